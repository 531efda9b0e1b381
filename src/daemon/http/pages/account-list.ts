// Which accounts the page of all accounts shows: those that match the filter in its address, one page of them.
import type { AccountStateName } from '../../../core/account-states.ts';
import { rankAccounts, type RankedAccount } from '../../account-state.ts';
import type { AccountFacts } from '../../daemon-api.ts';

/** Rows of one page. */
const ROWS = 50;
/** Longer texts cannot be part of a name. */
const MAX_TEXT = 255;

export interface AccountFilter {
  /** A part of the name, in any case; empty matches all. */
  readonly text: string;
  /** Also one that does not exist, which no account has. */
  readonly state: string | null;
  /** Starts at 1. */
  readonly page: number;
}

/** The filter in the query of an address. */
export function accountFilterOf(query: (name: string) => string | undefined): AccountFilter {
  const page = /^[1-9]\d{0,6}$/.test(query('page') ?? '') ? Number(query('page')) : 1;
  return { text: (query('q') ?? '').trim().slice(0, MAX_TEXT), state: query('state') || null, page };
}

/** The address of the page with this filter. */
export function accountsAddress({ text, state, page }: AccountFilter): string {
  const query = new URLSearchParams();
  if (state !== null) query.set('state', state);
  if (text !== '') query.set('q', text);
  if (page > 1) query.set('page', String(page));
  return query.size === 0 ? '/' : `/?${query.toString()}`;
}

export interface AccountList {
  readonly filter: AccountFilter;
  /** All configured accounts. */
  readonly total: number;
  /** How many of the accounts that match the text are in each state. An account can be in several. */
  readonly counts: ReadonlyMap<AccountStateName, number>;
  /** The changes that the last plans of the matching accounts contain and hold. */
  readonly changes: { readonly toApply: number; readonly held: number };
  /** How many accounts match the text and the state. */
  readonly matching: number;
  /** The last page. */
  readonly pages: number;
  /** The accounts of this page. */
  readonly shown: readonly RankedAccount[];
}

/** A page behind the last one is the last one: accounts may have left the list since the address was made. */
export function listAccounts(accounts: readonly AccountFacts[], wanted: AccountFilter): AccountList {
  const text = wanted.text.toLowerCase();
  const named = rankAccounts(
    text === '' ? accounts : accounts.filter(({ name }) => name.toLowerCase().includes(text)),
  );
  const { state } = wanted;
  const matching =
    state === null ? named : named.filter(({ states }) => states.some((each) => each === state));
  const pages = Math.max(1, Math.ceil(matching.length / ROWS));
  const page = Math.min(wanted.page, pages);
  return {
    filter: { ...wanted, page },
    total: accounts.length,
    counts: countStates(named),
    changes: {
      toApply: sum(matching, ({ drift }) => (drift?.create ?? 0) + (drift?.delete ?? 0)),
      held: sum(matching, ({ lastRun }) => lastRun?.held ?? 0),
    },
    matching: matching.length,
    pages,
    shown: matching.slice((page - 1) * ROWS, page * ROWS),
  };
}

function countStates(accounts: readonly RankedAccount[]): ReadonlyMap<AccountStateName, number> {
  const counts = new Map<AccountStateName, number>();
  for (const { states } of accounts) {
    for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
}

function sum(accounts: readonly RankedAccount[], read: (account: AccountFacts) => number): number {
  return accounts.reduce((total, { account }) => total + read(account), 0);
}
