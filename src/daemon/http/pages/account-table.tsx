// The table of accounts: what each needs, its last runs, and when it runs next.
import { firstFew } from '../../../core/amounts.ts';
import { type AccountStates as States, FAILING_STATES } from '../../../core/account-states.ts';
import type { RunMark } from '../../../core/ports/journal-reader.ts';
import { type Line, toned } from '../../../report/document.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { briefInstant } from '../../../report/formatting.ts';
import { pauseNote, problemNotes } from '../../../report/list-reports.ts';
import { Inline, Instant, Table, type TableColumn } from '../../../report/html.tsx';
import { statusTone } from '../../../report/run-status.ts';
import type { AccountView } from '../../daemon-api.ts';
import { AccountStates } from './account-facts.tsx';
import { AccountLink, RunLink, ShortCommit } from './page-parts.tsx';

export interface RankedAccount {
  readonly account: AccountView;
  readonly states: States;
}

/** What a row shows of its account. */
export interface AccountRow extends RankedAccount {
  /** The last runs, newest first. */
  readonly runs: readonly RunMark[];
  /** How far the run at work is, or what is still to apply and who loses what by it; empty where nothing is. */
  readonly work: Line;
}

const NONE = <span class="quiet">–</span>;

/** `shared`: errors of the daemon, which the page shows once for all accounts. */
const columnsOf = (shared: readonly string[]): readonly TableColumn<AccountRow>[] => [
  {
    head: 'Account',
    cell: ({ account: { name, region, mode } }) => (
      <>
        <AccountLink name={name} />
        <div class="note">{[region, mode].filter((each) => each !== null).join(' · ')}</div>
      </>
    ),
  },
  { head: 'State', is: 'state', cell: ({ account }) => <AccountStates account={account} /> },
  {
    head: 'What',
    is: 'what',
    cell: (row) =>
      notesOf(row, shared).map((line) => (
        <div>
          <Inline line={line} />
        </div>
      )),
  },
  {
    head: 'Held',
    is: 'number',
    cell: ({ account: { lastRun: run } }) => (run?.status !== 'running' && run?.held) || NONE,
  },
  { head: 'Last runs', is: 'strip', cell: ({ runs }) => <RunBars runs={runs} /> },
  { head: 'Last run', is: 'last', cell: ({ account: { lastRun } }) => <RunLink run={lastRun} /> },
  {
    head: 'Next run',
    is: 'next',
    cell: ({ account: { nextRunAt: at, pause } }) =>
      at === null ? pause === null ? 'none' : 'paused' : <Instant at={at} />,
  },
  { head: 'Commit', is: 'commit', cell: ({ account: { lastRun } }) => <ShortCommit run={lastRun} /> },
];

interface AccountTableProps {
  readonly shared: readonly string[];
  readonly rows: readonly AccountRow[];
}

/** Those that need a person are a group of their own. */
export function AccountTable({ shared, rows }: AccountTableProps) {
  const needy = rows.filter(({ states }) => needsPerson(states));
  const others = rows.filter((row) => !needy.includes(row));
  const groups = [['Need you', needy] as const, [needy.length === 0 ? '' : 'Others', others] as const];
  return (
    <>
      <Table name="card accounts" columns={columnsOf(shared)} groups={groups} />
      <p class="quiet legend" aria-hidden="true">
        Last runs, the newest at the right:
        {LEGEND.map(([shape, meaning]) => (
          <span>
            <i class={`bars bar-mark ${shape}`}></i> {meaning}
          </span>
        ))}
      </p>
    </>
  );
}

/** What the account needs or does, and why. */
function notesOf({ account, states, work }: AccountRow, shared: readonly string[]): Line[] {
  const { pause, pending } = account;
  const issues = account.issues.filter((each) => !shared.includes(each));
  const waits = pending !== null && states.includes('waiting');
  return [
    ...problemNotes({ ...account, issues, state: states[0] }),
    ...(work.length === 0 ? [] : [work]),
    ...(waits ? [[toned('quiet', 'planned ', { time: pending.since })]] : []),
    ...(pause === null ? [] : [[toned('quiet', ...pauseNote(pause, { time: pause.since }))]]),
  ];
}

/** The part of an id in a link of a bar: its time, and enough random bits. A page has a thousand of them. */
const SHORT_ID = 20;
/** The most runs that a row shows. */
export const BAR_RUNS = 20;

/** Each shape has a height of its own, so that they can be distinguished without colours. */
const LEGEND = [
  ['', 'nothing written'],
  ['good', 'entries written'],
  ['warn', 'changes held'],
  ['bad', 'failed or stopped'],
] as const;

function shapeOf({ status, written }: RunMark): string {
  if (statusTone(status) === 'bad') return 'bad';
  return status === 'held' ? 'warn' : written > 0 ? 'good' : '';
}

/** The groups of equal results that the text alternative names. */
const MAX_GROUPS = 6;

/**
 * `runs` are the latest ones of one account, newest first. Each bar is a link for a pointer; with a keyboard twenty stops in
 * each row would be in the way, and a text has the same content.
 */
function RunBars({ runs }: { readonly runs: readonly RunMark[] }) {
  if (runs.length === 0) return null;
  return (
    <>
      <span class="bars" aria-hidden="true">
        {runs.toReversed().map((run) => (
          <a class={`bar-mark ${shapeOf(run)}`} {...linkOf(run)} tabindex={-1}></a>
        ))}
      </span>
      <span class="unseen">{textOf(runs)}</span>
    </>
  );
}

function linkOf({ id, status, startedAt, written }: RunMark) {
  const text = `${status}, ${written === 0 ? '' : `${written} written, `}${briefInstant(startedAt)} UTC`;
  return { href: `/runs/${id.slice(0, SHORT_ID)}`, title: visible(text) };
}

/** `Last runs, newest first: 2 failed, 18 converged`. */
function textOf(runs: readonly RunMark[]): string {
  const starts = runs.flatMap(({ status }, index) => (status === runs[index - 1]?.status ? [] : [index]));
  const parts = starts.map(
    (start, index) => `${(starts[index + 1] ?? runs.length) - start} ${runs[start]?.status}`,
  );
  return visible(`Last runs, newest first: ${firstFew(parts, MAX_GROUPS)}`);
}

/** Whether the account waits for a person: something must be fixed, or approved. Such accounts are the first of a list. */
export function needsPerson([first]: States): boolean {
  return FAILING_STATES.has(first) || first === 'waiting';
}
