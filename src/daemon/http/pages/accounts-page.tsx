// The page at /: all accounts, those that need a person first, filtered and paged by its address.
import type { AccountStateName } from '../../../core/account-states.ts';
import type { RunMark } from '../../../core/ports/journal-reader.ts';
import { ACCOUNT_STATE_TEXTS, count, shortCommit } from '../../../report/formatting.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { LISTED_STATES, rankAccounts, type RankedAccount } from '../../account-state.ts';
import type { AccountView, DaemonView, AccountFacts } from '../../daemon-api.ts';
import type { Visitor } from '../context.ts';
import { AccountTable } from './account-table.tsx';
import { Layout, Live } from './layout.tsx';
import { FilterForm, NO_ACCOUNT_RUNS, Notice, Pager, RelativeInstant } from './page-parts.tsx';

interface AccountsPageProps {
  readonly daemon: DaemonView;
  readonly list: AccountList;
  /** The accounts of the list's page, by name. */
  readonly views: ReadonlyMap<string, AccountView>;
  /** Their last runs, newest first. */
  readonly runs: ReadonlyMap<string, readonly RunMark[]>;
  readonly nowMs: number;
  readonly visitor: Visitor | undefined;
}

export function AccountsPage(props: AccountsPageProps) {
  const { daemon, list, views, runs, nowMs, visitor } = props;
  const { filter, shown } = list;
  return (
    <Layout title="Accounts" visitor={visitor} current="accounts">
      <h1>Accounts</h1>
      {list.total === 0 ? null : (
        <FilterForm
          at="/"
          search={{ label: 'Name contains', name: 'q', value: filter.text }}
          choice={{ label: 'State', name: 'state', options: STATE_OPTIONS, value: filter.state }}
          showAll={filter.text === '' && filter.state === null ? null : 'Show all accounts'}
        />
      )}
      <Live>
        <Problems daemon={daemon} />
        <Counts list={list} />
        {shown.length === 0 ? (
          <Nothing list={list} hasCheckout={daemon.hasCheckout} />
        ) : (
          <AccountTable shared={daemon.issues} accounts={shown} views={views} runs={runs} nowMs={nowMs} />
        )}
        <Pages list={list} />
        <DaemonFacts daemon={daemon} nowMs={nowMs} />
      </Live>
    </Layout>
  );
}

const STATE_OPTIONS = LISTED_STATES.map((state) => [state, ACCOUNT_STATE_TEXTS[state].label] as const);

function Problems({ daemon }: { readonly daemon: DaemonView }) {
  return (
    <Notice
      tone="bad"
      title={daemon.configurationErrors === 0 ? 'The daemon reports a problem.' : NO_ACCOUNT_RUNS}
      lines={daemon.issues}
    />
  );
}

/** How many accounts are in each state, each number with a link to them. */
function Counts({ list: { filter, counts, changes, total, matching } }: { readonly list: AccountList }) {
  if (total === 0) return null;
  const states = LISTED_STATES.filter((state) => counts.has(state));
  return (
    <>
      <p class="strong">
        {matching === total ? count(total, 'account') : `${matching} of ${count(total, 'account')}`}
        {changes.toApply === 0 ? '' : ` · ${count(changes.toApply, 'change')} to apply`}
        {changes.held === 0 ? '' : ` · ${count(changes.held, 'change')} held`}
      </p>
      <ul class="counts">
        {states.map((state) => (
          <li>
            <StateCount state={state} amount={counts.get(state) ?? 0} filter={filter} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface StateCountProps {
  readonly state: AccountStateName;
  readonly amount: number;
  readonly filter: AccountList['filter'];
}

/** The count of the selected state leads back to all states. */
function StateCount({ state, amount, filter }: StateCountProps) {
  const { label, tone } = ACCOUNT_STATE_TEXTS[state];
  const isSelected = filter.state === state;
  const href = accountsAddress({ text: filter.text, state: isSelected ? null : state, page: 1 });
  return (
    <a class={`badge ${tone ?? ''}`} href={href} {...(isSelected ? { 'aria-current': 'true' } : {})}>
      {amount} {label}
    </a>
  );
}

interface NothingProps {
  readonly list: AccountList;
  readonly hasCheckout: boolean;
}

function Nothing({ list: { total }, hasCheckout }: NothingProps) {
  if (total > 0) {
    return (
      <p>
        No account matches the filter. <a href="/">Show all accounts</a>
      </p>
    );
  }
  if (hasCheckout) {
    return (
      <p>
        No account is known yet. Accounts appear as soon as a commit of <code>source.git</code> is checked
        out; the log has the event <code>source_failed</code> when that fails.
      </p>
    );
  }
  return (
    <p>
      No account is configured. Add a file to the folder that <code>accounts:</code> of the service file
      names; the daemon reads it at once.
    </p>
  );
}

function Pages({ list: { filter, pages } }: { readonly list: AccountList }) {
  const { page } = filter;
  const at = (other: number, text: string) => ({ href: accountsAddress({ ...filter, page: other }), text });
  return (
    <Pager
      label="Pages of accounts"
      position={`Page ${page} of ${pages}`}
      previous={page > 1 ? at(page - 1, 'Previous') : null}
      next={page < pages ? at(page + 1, 'Next') : null}
    />
  );
}

function DaemonFacts({ daemon, nowMs }: { readonly daemon: DaemonView; readonly nowMs: number }) {
  const { commit } = daemon;
  return (
    <p class="quiet foot">
      rolecall {visible(daemon.version)}, started <RelativeInstant at={daemon.startedAt} nowMs={nowMs} />
      {commit === null ? null : (
        <>
          {' · configuration at '}
          <code>{visible(shortCommit(commit.sha))}</code>
          {commit.dirty ? ' with local changes' : ''} ({visible(commit.subject)},{' '}
          <RelativeInstant at={commit.committedAt} nowMs={nowMs} />)
        </>
      )}
    </p>
  );
}

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
