// The table of accounts: their states, what differs and when they run next.
import type { Child } from 'hono/jsx';
import { visible } from '../../../report/escape-invisible.ts';
import { count } from '../../../report/formatting.ts';
import { type RankedAccount, waitsForApproval } from '../../account-state.ts';
import type { AccountView } from '../../daemon-api.ts';
import { AccountStates, Drift } from './account-facts.tsx';
import { AccountLink, RelativeInstant } from './page-parts.tsx';
import { Count } from './run-table.tsx';

/** The part of a long message that a row shows. */
const MAX_MESSAGE = 160;

/** The file and the position before a message; the page of the account shows them. */
const POSITION = /^.*?:(\d+):\d+: /;

interface AccountTableProps {
  /** Errors of the daemon, which the page shows once for all accounts. */
  readonly shared: readonly string[];
  readonly accounts: readonly RankedAccount[];
  readonly views: ReadonlyMap<string, AccountView>;
  readonly nowMs: number;
}

export function AccountTable({ shared, accounts, views, nowMs }: AccountTableProps) {
  return (
    <table class="cards accounts">
      <thead>
        <tr>
          <th scope="col">Account</th>
          <th scope="col">State</th>
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
          return view === undefined ? null : <AccountRow shared={shared} account={view} nowMs={nowMs} />;
        })}
      </tbody>
    </table>
  );
}

interface AccountRowProps {
  readonly shared: readonly string[];
  readonly account: AccountView;
  readonly nowMs: number;
}

function AccountRow({ shared, account, nowMs }: AccountRowProps) {
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
          paused {pause.since === null ? null : <RelativeInstant at={pause.since} nowMs={nowMs} />}
          {pause.by === null ? '' : ` by ${visible(pause.by)}`}
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
