// The table of accounts: their states, their last runs, what differs and when they run next.
import type { Child } from 'hono/jsx';
import type { RunMark } from '../../../core/ports/journal-reader.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { count, instant } from '../../../report/formatting.ts';
import { type RankedAccount, waitsForApproval } from '../../account-state.ts';
import type { AccountView } from '../../daemon-api.ts';
import { AccountStates, Drift } from './account-facts.tsx';
import { AccountLink, RelativeInstant } from './page-parts.tsx';
import { Count } from './run-table.tsx';
import type { RunStatus } from '../../../core/journal.ts';
import { statusTone } from '../../../report/run-status.ts';

/** The part of a long message that a row shows. */
const MAX_MESSAGE = 160;

/** The file and the position before a message; the page of the account shows them. */
const POSITION = /^.*?:(\d+):\d+: /;

interface AccountTableProps {
  /** Errors of the daemon, which the page shows once for all accounts. */
  readonly shared: readonly string[];
  readonly accounts: readonly RankedAccount[];
  readonly views: ReadonlyMap<string, AccountView>;
  readonly runs: ReadonlyMap<string, readonly RunMark[]>;
  readonly nowMs: number;
}

export function AccountTable({ shared, accounts, views, runs, nowMs }: AccountTableProps) {
  return (
    <table class="cards accounts">
      <thead>
        <tr>
          <th scope="col">Account</th>
          <th scope="col">State</th>
          <th scope="col">Last runs</th>
          <th scope="col">Last run</th>
          <th scope="col" class="number">
            Drift
          </th>
          <th scope="col" class="number">
            Held
          </th>
          <th scope="col">Next run</th>
        </tr>
      </thead>
      <tbody>
        {accounts.map(({ account: { name } }) => {
          const view = views.get(name);
          return view === undefined ? null : (
            <AccountRow shared={shared} account={view} runs={runs.get(name) ?? []} nowMs={nowMs} />
          );
        })}
      </tbody>
    </table>
  );
}

interface AccountRowProps {
  readonly shared: readonly string[];
  readonly account: AccountView;
  readonly runs: readonly RunMark[];
  readonly nowMs: number;
}

function AccountRow({ shared, account, runs, nowMs }: AccountRowProps) {
  const { name, lastRun } = account;
  return (
    <tr>
      <th scope="row">
        <AccountLink name={name} />
        <Notes shared={shared} account={account} nowMs={nowMs} />
      </th>
      <td data-head="State">
        <AccountStates account={account} />
      </td>
      <td data-head="Last runs">
        <RunStrip runs={runs} />
      </td>
      <td data-head="Last run">
        {lastRun === null ? (
          <span class="quiet">never</span>
        ) : (
          <a href={`/runs/${lastRun.id}`}>
            <RelativeInstant at={lastRun.startedAt} nowMs={nowMs} />
          </a>
        )}
      </td>
      <td class="number" data-head="Drift">
        {lastRun?.status === 'running' ? <span class="quiet">–</span> : <Drift drift={account.drift} />}
      </td>
      <td class="number" data-head="Held">
        {lastRun === null || lastRun.status === 'running' ? (
          <span class="quiet">–</span>
        ) : (
          <Count of={lastRun.held} tone="warn" />
        )}
      </td>
      <td data-head="Next run">
        {account.nextRunAt === null ? (
          <span class="quiet">none</span>
        ) : (
          <RelativeInstant at={account.nextRunAt} nowMs={nowMs} />
        )}
      </td>
    </tr>
  );
}

type NotesProps = Pick<AccountRowProps, 'shared' | 'account' | 'nowMs'>;

/** Why the account is in its states. */
function Notes({ shared, account, nowMs }: NotesProps) {
  const { pause, pending, lastRun, consecutiveFailures } = account;
  const issues = account.issues.filter((each) => !shared.includes(each));
  const [issue] = issues;
  return (
    <>
      {issue === undefined ? null : (
        <Note>
          {visible(shorten(issue.replace(POSITION, 'line $1: ')))}
          {issues.length > 1 ? ` (and ${count(issues.length - 1, 'more error')})` : ''}
        </Note>
      )}
      {account.valid && lastRun?.errorCode ? (
        <Note>{failure(lastRun.errorCode, consecutiveFailures)}</Note>
      ) : null}
      {pending !== null && waitsForApproval(account) ? (
        <Note>
          planned <RelativeInstant at={pending.since} nowMs={nowMs} />
        </Note>
      ) : null}
      {pause === null ? null : (
        <Note>
          paused <RelativeInstant at={pause.since} nowMs={nowMs} /> by {visible(pause.by)}
          {pause.reason === null ? '' : `: ${shorten(pause.reason)}`}
        </Note>
      )}
    </>
  );
}

function failure(code: string, times: number): string {
  return visible(times > 1 ? `${code}, ${count(times, 'failure')} in a row` : code);
}

function shorten(text: string): string {
  return visible(text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text);
}

function Note({ children }: { readonly children: Child }) {
  return <div class="note">{children}</div>;
}

/** The most runs that a strip shows. */
export const STRIP_RUNS = 20;

const STEP = 7;
const HEIGHT = 20;
/** The groups of equal results that the text alternative names. */
const MAX_GROUPS = 6;

/** The shapes, drawn downwards from the top of a bar, so that the results can be distinguished without colours. */
const SHORT = 'M0 13h5v7h-5z';
const SHAPES: Readonly<Record<RunStatus, string>> = {
  converged: SHORT,
  planned: 'M0 13h5v7h-5zm1.5 1.5v4h2v-4z',
  running: 'M0 18h5v2h-5z',
  held: 'M0 7h5v13h-5z',
  // An exclamation mark.
  partial: 'M0 0h5v12h-5zM0 15h5v5h-5z',
  blocked: 'M0 0h5v12h-5zM0 15h5v5h-5z',
  failed: 'M0 0h5v12h-5zM0 15h5v5h-5z',
  interrupted: 'M0 0h5v12h-5zM0 15h5v5h-5z',
};

/** `runs` are the latest ones of one account, newest first. */
export function RunStrip({ runs }: { readonly runs: readonly RunMark[] }) {
  if (runs.length === 0) return null;
  const shown = runs.slice(0, STRIP_RUNS);
  const width = shown.length * STEP;
  return (
    <svg
      class="strip"
      role="img"
      aria-label={textOf(runs)}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      width={width}
      height={HEIGHT}
    >
      {shown.map((run, index) => (
        <path
          class={statusTone(run.status)}
          // Only `M` and `m` are absolute or relative to the start, so a translation is enough.
          transform={`translate(${width - (index + 1) * STEP + 1})`}
          d={Object.hasOwn(SHAPES, run.status) ? SHAPES[run.status] : SHAPES.held}
        >
          <title>{titleOf(run)}</title>
        </path>
      ))}
    </svg>
  );
}

function titleOf({ status, startedAt }: RunMark): string {
  return visible(`${status}, ${instant(startedAt)}`);
}

/** `Last runs, newest first: 2 failed, 18 converged`. */
function textOf(runs: readonly RunMark[]): string {
  const groups: { readonly status: string; amount: number }[] = [];
  for (const { status } of runs) {
    const last = groups.at(-1);
    if (last?.status === status) last.amount += 1;
    else groups.push({ status, amount: 1 });
  }
  const rest = groups.slice(MAX_GROUPS).reduce((sum, { amount }) => sum + amount, 0);
  const parts = groups.slice(0, MAX_GROUPS).map(({ status, amount }) => `${amount} ${status}`);
  if (rest > 0) parts.push(`${rest} earlier`);
  return visible(`Last runs, newest first: ${parts.join(', ')}`);
}
