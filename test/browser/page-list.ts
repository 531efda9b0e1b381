// The pages of a stage, each state once.
import { LONG_ACCOUNT, REMOVED } from './accounts.ts';
import type { Stage } from './stage.ts';

export interface ListedPage {
  readonly name: string;
  readonly path: string;
}

/** The pages that together contain every element and every colour. */
export const ALL_ELEMENTS: readonly string[] = [
  'overview',
  'runs',
  'account-pending',
  'account-drift',
  'account-failed',
  'account-long-names',
  'account-running',
  'run-held',
  'run-long-names',
];

const FIXED: readonly ListedPage[] = [
  { name: 'overview', path: '/' },
  { name: 'overview-filtered', path: '/?state=failed&q=us' },
  { name: 'overview-nothing-found', path: '/?q=no+account+has+this+name' },
  { name: 'runs', path: '/runs' },
  { name: 'activity', path: '/activity' },
  { name: 'runs-filtered', path: '/runs?account=held-il&status=held' },
  { name: 'not-found', path: '/no-such-page' },
  { name: 'account-removed', path: `/accounts/${REMOVED}` },
];

/** The state that the page of an account, and that of its last run, shows. */
const STATES: Readonly<Record<string, { readonly account?: string; readonly run?: string }>> = {
  'acme-eu': { account: 'pending' },
  'drift-us': { account: 'drift', run: 'planned' },
  'held-il': { account: 'held', run: 'held' },
  'approved-au': { account: 'approved-and-paused' },
  'paused-au': { account: 'paused' },
  'failed-us': { account: 'failed', run: 'failed' },
  'partial-us': { run: 'partial' },
  'broken-eu': { account: 'invalid-file' },
  'many-held-us': { account: 'many-held' },
  'calm-eu': { account: 'calm' },
  'empty-eu': { account: 'empty', run: 'done' },
  'large-eu': { account: 'large', run: 'large' },
  'running-eu': { account: 'running', run: 'running' },
  [LONG_ACCOUNT]: { account: 'long-names', run: 'long-names' },
};

/** The pages for visitors who have signed in. */
export async function pagesOf(stage: Stage): Promise<readonly ListedPage[]> {
  const accounts = await stage.accounts();
  const own = accounts.flatMap(({ name, lastRun }) => {
    const { account, run } = STATES[name] ?? {};
    return [
      ...(account === undefined ? [] : [{ name: `account-${account}`, path: `/accounts/${name}` }]),
      ...(run === undefined || lastRun === null ? [] : [{ name: `run-${run}`, path: `/runs/${lastRun.id}` }]),
    ];
  });
  return [...FIXED, ...own];
}
