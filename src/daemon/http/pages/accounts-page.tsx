// The page at /: all accounts, those that need a person first, filtered and paged by its address.
import type { Child } from 'hono/jsx';
import { ACCOUNT_STATE_TEXTS, commitCode, count, driftLine } from '../../../report/formatting.ts';
import { FAILING_STATES, statesOf } from '../../../core/account-states.ts';
import { ACCOUNT_STATES, type AccountStateName } from '../../../core/journal.ts';
import type { Links } from '../../../core/settings.ts';
import type { Line } from '../../../report/document.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { Inline, Instant, Text } from '../../../report/html.tsx';
import type { AccountView, DaemonView } from '../../daemon-api.ts';
import { useFrame } from '../context.ts';
import { AccountTable, type AccountRow, needsPerson, type RankedAccount } from './account-table.tsx';
import { Layout } from './layout.tsx';
import { addressOf, Errors, FilterForm, NO_ACCOUNT_RUNS, Pager } from './page-parts.tsx';

interface AccountsPageProps {
  readonly daemon: DaemonView;
  readonly list: AccountList;
  /** The accounts of the list's page. */
  readonly rows: readonly AccountRow[];
}

/** The states of the accounts that the daemon lists: all of them are configured. */
const LISTED_STATES = ACCOUNT_STATES.filter((state) => state !== 'removed');
/** Fewer accounts need no filter. */
const MIN_FILTERED = 10;

export function AccountsPage({ daemon, list, rows }: AccountsPageProps) {
  const { filter, total, pages } = list;
  const { page } = filter;
  const at = (text: string, other: number) => [text, accountsAddress({ ...filter, page: other })] as const;
  const isFiltered = filter.text !== '' || filter.state !== null;
  return (
    <Layout title="Accounts" current="accounts" isLive>
      <h1 class="unseen">Accounts</h1>
      <Errors
        title={daemon.configurationErrors === 0 ? 'The daemon reports a problem.' : NO_ACCOUNT_RUNS}
        errors={daemon.issues}
      />
      {total === 0 ? null : <Tiles list={list} />}
      <div class="above">
        {total < MIN_FILTERED && !isFiltered ? null : (
          <FilterForm
            at="/"
            search={{ label: 'Name, region, state or commit', name: 'q', value: filter.text }}
            isFiltered={isFiltered}
          >
            {filter.state === null ? null : (
              <input type="hidden" name="state" value={visible(filter.state)} />
            )}
          </FilterForm>
        )}
        <Text line={summaryOf(list, daemon, useFrame())} is="quiet" />
      </div>
      {rows.length === 0 ? (
        <p class="card">
          {total > 0
            ? 'No account matches the filter.'
            : 'No account is configured. Add a file to the folder of the accounts; with source.git, push it.'}
        </p>
      ) : (
        <AccountTable shared={daemon.issues} rows={rows} />
      )}
      <Pager
        label="Pages of accounts"
        position={`Page ${page} of ${pages}`}
        previous={page > 1 ? at('Previous', page - 1) : null}
        next={page < pages ? at('Next', page + 1) : null}
      />
      <p class="quiet foot">
        rolecall {visible(daemon.version)}, started <Instant at={daemon.startedAt} />
      </p>
    </Layout>
  );
}

/** How many accounts are listed, and the configuration that they have now. */
function summaryOf({ total, matching, filter }: AccountList, { commit }: DaemonView, links: Links): Line {
  const accounts = matching === total ? count(total, 'account') : `${matching} of ${count(total, 'account')}`;
  if (commit === null) return [accounts];
  const dirty = commit.dirty ? ' with local changes' : '';
  const sha = commitCode(commit.sha, links);
  const about: Line = [` “${commit.subject}”, `, { time: commit.committedAt }];
  // A filter by this commit finds the accounts that have run it.
  const isOfCommit = filter.state === null && filter.text.length >= 7 && commit.sha.startsWith(filter.text);
  const rest = isOfCommit && matching < total ? `, ${total - matching} still to run it` : '';
  return [accounts, rest, ' · configuration at ', sha, dirty, ...about];
}

/** What is most worth knowing, each as a filter; the one that is selected leads back to all accounts. */
function Tiles({ list: { filter, tiles, total } }: { readonly list: AccountList }) {
  const sum = (tile: Tile, read: (account: AccountView) => number | undefined) =>
    tiles[tile].reduce((amount, { account }) => amount + (read(account) ?? 0), 0);
  const needs = LISTED_STATES.map((state) => {
    const amount = tiles['need-you'].filter(({ states }) => states[0] === state).length;
    return amount === 0 ? '' : `${amount} ${ACCOUNT_STATE_TEXTS[state].label}`;
  });
  const drift = {
    create: sum('to-apply', (account) => account.drift?.create),
    delete: sum('to-apply', (account) => account.drift?.delete),
  };
  const held = sum('held', ({ lastRun }) => lastRun?.held);
  const tally = ({ length }: readonly unknown[], tone = '') => <b class={length > 0 ? tone : ''}>{length}</b>;
  const texts: Readonly<Record<Tile, readonly [Child, label: string, note: string]>> = {
    'need-you': [
      tally(tiles['need-you'], 'warn'),
      tiles['need-you'].length === 1 ? 'needs you' : 'need you',
      needs.filter((need) => need !== '').join(' · ') || 'nothing waits or fails',
    ],
    held: [tally(tiles.held), 'with changes held', count(held, 'change')],
    'to-apply': [
      <b>{drift.create + drift.delete === 0 ? '0' : <Inline line={driftLine(drift)} />}</b>,
      'still to apply',
      `in ${count(tiles['to-apply'].length, 'account')}`,
    ],
    converged: [tally(tiles.converged, 'good'), 'in order', `converged, of ${count(total, 'account')}`],
  };
  return (
    <nav class="tiles" aria-label="Filters">
      {TILES.map((tile) => {
        const isSelected = filter.state === tile;
        const href = accountsAddress({ text: filter.text, state: isSelected ? null : tile, page: 1 });
        const [shown, label, note] = texts[tile];
        return (
          <a href={href} {...(isSelected ? { 'aria-current': 'true' } : {})}>
            {shown} <span>{label}</span> <small class="quiet">{note}</small>
          </a>
        );
      })}
    </nav>
  );
}

/** Rows of one page. */
const ROWS = 50;
/** Longer texts cannot be part of a name. */
const MAX_TEXT = 255;

/** The filters that the page offers. `held` and `converged` are states. */
const TILES = ['need-you', 'held', 'to-apply', 'converged'] as const;
type Tile = (typeof TILES)[number];

type AccountFilter = ReturnType<typeof accountFilterOf>;

/** The filter in the query of an address. */
export function accountFilterOf(query: (name: string) => string | undefined) {
  const page = /^[1-9]\d{0,6}$/.test(query('page') ?? '') ? Number(query('page')) : 1;
  return {
    /** Words, each of which is a part of the name, region, states or commit, in any case; empty matches all. */
    text: (query('q') ?? '').trim().slice(0, MAX_TEXT),
    /** A tile or a state; also one that does not exist, in which no account is. */
    state: query('state') || null,
    page,
  };
}

/** The address of the page with this filter. */
function accountsAddress({ text, state, page }: AccountFilter): string {
  return addressOf('/', { state: state ?? '', q: text, page: page > 1 ? String(page) : '' });
}

type AccountList = ReturnType<typeof listAccounts>;

/** A page behind the last one is the last one: accounts may have left the list since the address was made. */
export function listAccounts(accounts: readonly AccountView[], wanted: AccountFilter) {
  const words = wanted.text.toLowerCase().split(/\s+/);
  const ranked = rankAccounts(accounts);
  const found = wanted.text === '' ? ranked : ranked.filter((each) => hasWords(each, words));
  const listed = (state: string | null) => found.filter((each) => state === null || isIn(state, each));
  const matching = listed(wanted.state);
  const pages = Math.max(1, Math.ceil(matching.length / ROWS));
  const page = Math.min(wanted.page, pages);
  return {
    filter: { ...wanted, page },
    /** All configured accounts. */
    total: accounts.length,
    /** The accounts that match the text, for each tile. */
    tiles: {
      'need-you': listed('need-you'),
      held: listed('held'),
      'to-apply': listed('to-apply'),
      converged: listed('converged'),
    },
    /** How many accounts match the text and the state. */
    matching: matching.length,
    /** The last page. */
    pages,
    /** The accounts of this page. */
    shown: matching.slice((page - 1) * ROWS, page * ROWS),
  };
}

function hasWords(
  { account: { name, region, lastRun }, states }: RankedAccount,
  words: readonly string[],
): boolean {
  const labels = states.map((state) => ACCOUNT_STATE_TEXTS[state].label);
  const text = [name, region, ...states, ...labels, lastRun?.configCommit].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Whether the account is in the state, or among those of the tile. */
function isIn(state: string, { account: { drift }, states }: RankedAccount): boolean {
  if (state === 'need-you') return needsPerson(states);
  if (state === 'to-apply') return drift !== null && drift.create + drift.delete > 0;
  return states.some((each) => each === state);
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
