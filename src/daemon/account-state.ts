// The states of the daemon's accounts, and the order of a list of them.
import { type AccountStates, FAILING_STATES, statesOf, waitsForApproval } from '../core/account-states.ts';
import { ACCOUNT_STATES, type AccountStateName } from '../core/journal.ts';
import type { AccountView } from './daemon-api.ts';

/** The states of the accounts that the daemon lists: all of them are configured. */
export const LISTED_STATES = ACCOUNT_STATES.filter((state) => state !== 'removed');

export interface RankedAccount {
  readonly account: AccountView;
  readonly states: AccountStates;
}

/**
 * The accounts with their states, in the order of a list: those that need a person most first, of these the oldest
 * first, then by name (2 before 10).
 */
export function rankAccounts(accounts: readonly AccountView[]): RankedAccount[] {
  const ranked = accounts.map((account) => {
    const states = statesOf(account);
    const [first] = states;
    const rank = String.fromCharCode(ACCOUNT_STATES.indexOf(first));
    return { account, states, key: `${rank} ${sinceOf(first, account)} ${naturalKey(account.name)}` };
  });
  return ranked.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** Keys are in the order of their code units as names of accounts are in natural order. Ten times as fast as a collator. */
function naturalKey(name: string): string {
  const key = name.toLowerCase().replaceAll(/\d+/g, (digits) => digits.replace(/^0+/, '').padStart(16, '0'));
  return `${key} ${name}`;
}

/** When the state began, as far as that is known; empty, which is before every time, when the account never succeeded. */
function sinceOf(state: AccountStateName, { pending, pause, lastSuccessAt }: AccountView): string {
  if (state === 'waiting') return pending?.since ?? '';
  if (state === 'paused') return pause?.since ?? '';
  return FAILING_STATES.has(state) ? (lastSuccessAt ?? '') : '';
}

/** Whether the account waits for a person: something must be fixed, or approved. Such accounts are the first of a list. */
export function needsPerson([first]: AccountStates): boolean {
  return FAILING_STATES.has(first) || first === 'waiting';
}

/** Whether a run of the account works, or starts soon: the daemon finds an approval a moment later. */
export function isChanging(account: AccountView): boolean {
  const { activity, lastRun, pending, pause } = account;
  const isAboutToApply = pending !== null && pause === null && !waitsForApproval(account);
  return activity !== 'idle' || lastRun?.status === 'running' || isAboutToApply;
}
