// The page at /: all accounts, those that need attention first.
import { visible } from '../../../report/escape-invisible.ts';
import { count, shortCommit } from '../../../report/formatting.ts';
import { Instant } from '../../../report/html.tsx';
import type { AccountView, DaemonView } from '../../daemon-api.ts';
import type { Visitor } from '../context.ts';
import { AccountMarks, Drift, needsAttention, waitsForApproval } from './account-marks.tsx';
import { Layout } from './layout.tsx';
import { Notice } from './notice.tsx';
import { Count, StatusBadge } from './run-table.tsx';

interface AccountsPageProps {
  readonly daemon: DaemonView;
  readonly accounts: readonly AccountView[];
  readonly visitor: Visitor | undefined;
}

export function AccountsPage({ daemon, accounts, visitor }: AccountsPageProps) {
  const urgent = accounts.filter(needsAttention);
  const others = accounts.filter((account) => !needsAttention(account));
  return (
    <Layout title="Accounts" visitor={visitor}>
      <h1>{count(accounts.length, 'account')}</h1>
      <p>{summaryOf(accounts)}</p>
      <Notice
        tone="bad"
        title={
          accounts.length === 0
            ? 'The configuration has errors. No account runs until they are fixed.'
            : 'The configuration has errors. The last valid configuration is used until they are fixed.'
        }
        lines={daemon.issues}
      />
      {daemon.undelivered === 0 ? null : (
        <p class="notice warn">
          {count(daemon.undelivered, 'notification')} could not be delivered in the last 24 hours; the log of
          the daemon has the reasons.
        </p>
      )}
      {urgent.length === 0 ? null : <AccountTable title="Need attention" accounts={urgent} />}
      {others.length === 0 ? null : (
        <AccountTable title={urgent.length === 0 ? 'All accounts' : 'All others'} accounts={others} />
      )}
      <DaemonFacts daemon={daemon} />
    </Layout>
  );
}

/** The state of all accounts in one line. */
function summaryOf(accounts: readonly AccountView[]): string {
  const amount = (test: (account: AccountView) => boolean): number => accounts.filter(test).length;
  const sum = (read: (account: AccountView) => number): number =>
    accounts.reduce((total, account) => total + read(account), 0);
  const counts: readonly (readonly [number, string])[] = [
    [amount(({ valid }) => !valid), 'with an invalid file'],
    [amount(({ lastRun }) => lastRun?.status === 'failed'), 'failed'],
    [amount(({ lastRun }) => lastRun?.status === 'blocked'), 'blocked'],
    [amount(({ lastRun }) => lastRun?.status === 'partial'), 'partial'],
    [amount(({ lastRun }) => lastRun?.status === 'interrupted'), 'interrupted'],
    [amount(waitsForApproval), 'waiting for approval'],
    [amount(({ pause }) => pause !== null), 'paused'],
    [amount(({ activity }) => activity === 'running'), 'running'],
    [amount(({ lastRun }) => lastRun === null), 'not run yet'],
  ];
  const drift = sum((account) => (account.drift?.create ?? 0) + (account.drift?.delete ?? 0));
  const held = sum(({ lastRun }) => lastRun?.held ?? 0);
  const parts = counts.filter(([total]) => total > 0).map(([total, what]) => `${total} ${what}`);
  if (drift > 0) parts.push(`${count(drift, 'change')} to apply`);
  if (held > 0) parts.push(`${count(held, 'change')} held`);
  if (accounts.length === 0) return 'No account is configured.';
  return parts.length === 0 ? 'All accounts match their files.' : `${parts.join(' · ')}.`;
}

function AccountTable({
  title,
  accounts,
}: {
  readonly title: string;
  readonly accounts: readonly AccountView[];
}) {
  return (
    <section>
      <h2>
        {title} ({accounts.length})
      </h2>
      <table class="cards accounts">
        <thead>
          <tr>
            <th scope="col">Account</th>
            <th scope="col">Last run (UTC)</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Drift
            </th>
            <th scope="col" class="number">
              Held
            </th>
            <th scope="col" class="number">
              Failed
            </th>
            <th scope="col">Next run (UTC)</th>
            <th scope="col">Notes</th>
          </tr>
        </thead>
        <tbody>{accounts.map(accountRow)}</tbody>
      </table>
    </section>
  );
}

function accountRow(account: AccountView) {
  const { name, lastRun, nextRunAt } = account;
  return (
    <tr>
      <th scope="row">
        <a href={`/accounts/${encodeURIComponent(name)}`}>{visible(name)}</a>
      </th>
      <td data-head="Last run (UTC)">
        {lastRun === null ? (
          <span class="quiet">never</span>
        ) : (
          <a href={`/runs/${lastRun.id}`}>
            <Instant at={lastRun.startedAt} brief />
          </a>
        )}
      </td>
      <td data-head="Status">{lastRun === null ? '–' : <StatusBadge status={lastRun.status} />}</td>
      <td class="number" data-head="Drift">
        <Drift drift={account.drift} />
      </td>
      <td class="number" data-head="Held">
        <Count of={lastRun?.held ?? 0} tone="warn" />
      </td>
      <td class="number" data-head="Failed">
        <Count of={lastRun?.failed ?? 0} tone="bad" />
      </td>
      <td data-head="Next run (UTC)">
        {nextRunAt === null ? <span class="quiet">none</span> : <Instant at={nextRunAt} brief />}
      </td>
      <td>
        <AccountMarks account={account} />
      </td>
    </tr>
  );
}

function DaemonFacts({ daemon }: { readonly daemon: DaemonView }) {
  const { commit } = daemon;
  return (
    <p class="quiet foot">
      rolecall {visible(daemon.version)}, running since <Instant at={daemon.startedAt} />
      {commit === null ? null : (
        <>
          {' · configuration at '}
          <code>{visible(shortCommit(commit.sha))}</code>
          {commit.dirty ? ' with local changes' : ''} ({visible(commit.subject)},{' '}
          <Instant at={commit.committedAt} />)
        </>
      )}
    </p>
  );
}
