// The state of an account as one word: what a list of accounts is sorted and filtered by. The first word of an account
// that matches several is the one that needs a person most.
import type { AccountView } from './daemon-api.ts';

/** The states, those that need a person first. */
export const ACCOUNT_STATES = [
  'invalid',
  'failed',
  'blocked',
  'partial',
  'interrupted',
  'waiting',
  'drift',
  'held',
  'paused',
  'approved',
  'running',
  'queued',
  'new',
  'unknown',
  'converged',
] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

const NOT_SUCCEEDING: ReadonlySet<AccountState> = new Set([
  'invalid',
  'failed',
  'blocked',
  'partial',
  'interrupted',
]);

/** What decides the states of an account: a part of its view, which can be read for all accounts. */
export type AccountFacts = Pick<
  AccountView,
  'name' | 'valid' | 'activity' | 'pause' | 'pending' | 'approved' | 'drift' | 'lastSuccessAt'
> & { readonly lastRun: Pick<NonNullable<AccountView['lastRun']>, 'status' | 'startedAt' | 'held'> | null };

/** At least one state. */
export type AccountStates = readonly [AccountState, ...AccountState[]];

export interface RankedAccount {
  readonly account: AccountFacts;
  readonly states: AccountStates;
}

/**
 * The accounts with their states, in the order of a list: those that need a person most first, of these the oldest
 * first, then by name (2 before 10).
 */
export function rankAccounts(accounts: readonly AccountFacts[]): RankedAccount[] {
  const ranked = accounts.map((account) => {
    const states = statesOf(account);
    return { account, states, rank: ACCOUNT_STATES.indexOf(states[0]), since: sinceOf(states[0], account) };
  });
  return ranked.toSorted(
    (a, b) =>
      a.rank - b.rank ||
      Number(a.since > b.since) - Number(a.since < b.since) ||
      BY_NAME.compare(a.account.name, b.account.name),
  );
}

const BY_NAME = new Intl.Collator('en', { numeric: true });

/** When the state began, as far as that is known; empty, which is before every time, when the account never succeeded. */
function sinceOf(state: AccountState, { pending, pause, lastSuccessAt }: AccountFacts): string {
  if (state === 'waiting') return pending?.since ?? '';
  if (state === 'paused') return pause?.since ?? '';
  return NOT_SUCCEEDING.has(state) ? (lastSuccessAt ?? '') : '';
}

/** All states that are true of the account, in the order of ACCOUNT_STATES. The last two are only true alone. */
export function statesOf(account: AccountFacts): AccountStates {
  const { lastRun, drift } = account;
  const [first, ...others] = ACCOUNT_STATES.filter((state) => isTrue(state, account));
  if (first !== undefined) return [first, ...others];
  const isConverged =
    lastRun?.status === 'converged' ||
    (lastRun?.status === 'planned' && drift !== null && drift.create + drift.delete === 0);
  return [isConverged ? 'converged' : 'unknown'];
}

function isTrue(state: AccountState, account: AccountFacts): boolean {
  const { valid, lastRun, drift, pause, activity } = account;
  const isRunning = activity === 'running' || lastRun?.status === 'running';
  switch (state) {
    case 'invalid':
      return !valid;
    case 'failed':
    case 'blocked':
    case 'partial':
    case 'interrupted':
      return lastRun?.status === state;
    case 'waiting':
      return waitsForApproval(account);
    case 'drift':
      // What a pending plan contains waits for its approval; what a run is about to do does not wait for anybody.
      return !isRunning && account.pending === null && drift !== null && drift.create + drift.delete > 0;
    case 'held':
      return !isRunning && lastRun !== null && lastRun.held > 0;
    case 'paused':
      return pause !== null;
    case 'approved':
      return !isRunning && account.pending !== null && !waitsForApproval(account);
    case 'running':
      return isRunning;
    case 'queued':
      return !isRunning && activity === 'queued';
    case 'new':
      return !isRunning && lastRun === null;
    case 'unknown':
    case 'converged':
      return false;
  }
}

/** Whether a plan is pending and not approved. */
export function waitsForApproval({ pending, approved }: Pick<AccountView, 'pending' | 'approved'>): boolean {
  return pending !== null && approved?.digest !== pending.digest;
}
