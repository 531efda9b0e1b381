// The facts of an account: its states, what a plan would change, one line below its name, and the column beside its page.
import { useContext } from 'hono/jsx';
import type { RunRecord } from '../../../core/schemas.ts';
import { ALL_ACCOUNTS, HTTP_OPERATOR } from '../../../core/operator.ts';
import type { OperatorActionRecord } from '../../../core/command-schemas.ts';
import type { DailyCount } from '../../../core/ports/journal-reader.ts';
import type { Links } from '../../../core/settings.ts';
import { actionText } from '../../../report/list-reports.ts';
import { code, type Fact, type Line } from '../../../report/document.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { ACCOUNT_STATE_TEXTS, count, joined, relativeTime } from '../../../report/formatting.ts';
import { Facts, Inline, Instant, PageTime, Text } from '../../../report/html.tsx';
import { commitLine } from '../../../report/run-status.ts';
import { statesOf, waitsForApproval } from '../../../core/account-states.ts';
import type { AccountView } from '../../daemon-api.ts';
import { useFrame } from '../context.ts';
import { AccountLink, Card } from './page-parts.tsx';

/** The states of the account as badges, those that need a person first. */
export function AccountStates({ account }: { readonly account: AccountView }) {
  const states = statesOf(account);
  // What is held has a place of its own, unless nothing else is to be said.
  return (
    <span class="badges">
      {states
        .filter((state, index) => index === 0 || state !== 'held')
        .map((state) => {
          const { label, tone } = ACCOUNT_STATE_TEXTS[state];
          return <span class={`badge ${tone ?? `is-${state}`}`}>{label}</span>;
        })}
    </span>
  );
}

/** What is known of every account that ever ran. */
export interface History {
  /** The latest ones, newest first; the page shows fewer. */
  readonly runs: readonly RunRecord[];
  /** The latest ones, newest first. */
  readonly actions: readonly OperatorActionRecord[];
  /** The sizes of its lists, in the order of time. */
  readonly counts: readonly DailyCount[];
}

/** `http.token` names nobody, and programs use it too. */
export const byWhom = (name: string) => `${name === HTTP_OPERATOR ? 'with the token' : 'by'} ${name}`;

/** `eu · mode approve · next run in 11 min · 212 skills, 18 roles, 431 people`. */
export function FactsLine({ account, counts }: Pick<History, 'counts'> & { readonly account: AccountView }) {
  const { region, mode, nextRunAt } = account;
  const latest = (kind: DailyCount['kind']) => counts.findLast((each) => each.kind === kind)?.entries ?? 0;
  const sizes = `${count(latest('skill'), 'skill')}, ${count(latest('role'), 'role')}, ${count(latest('resource'), 'person', 'people')}`;
  const parts: Line[] = [
    ...(region === null ? [] : [[region]]),
    ...(mode === null ? [] : [[`mode ${mode}`]]),
    ...(nextRunAt === null ? [] : [['next run ', { time: nextRunAt }]]),
    ...(counts.length === 0 ? [] : [[sizes]]),
  ];
  return <Text line={joined(parts, ' · ')} is="quiet" />;
}

interface AsideProps extends History {
  /** null when no file has this name any more. */
  readonly account: AccountView | null;
}

export function Aside({ account, counts, runs, actions }: AsideProps) {
  return (
    <aside aria-label="About this account">
      <Card title="Details">
        <Facts facts={detailsOf(account, runs, useFrame())} />
      </Card>
      <Chart counts={counts} />
      <Card title="Who did what" aside={<a href="/activity">all accounts</a>}>
        {actions.length === 0 ? (
          <p class="quiet">No operator has approved, paused, resumed or run it.</p>
        ) : (
          <Actions actions={actions} />
        )}
      </Card>
    </aside>
  );
}

interface ActionsProps {
  readonly actions: readonly OperatorActionRecord[];
  /** Whether they are those of several accounts, so that each names its account. */
  readonly hasAccounts?: boolean;
}

/** One line for each: `dana approved a plan 77be0aa1`, and when. */
export function Actions({ actions, hasAccounts = false }: ActionsProps) {
  return (
    <ul class="actions">
      {actions.map(({ at, account, by, via, action, detail }) => (
        <li>
          <span>
            {by === HTTP_OPERATOR ? 'token ' : ''}
            <strong>{visible(by)}</strong> {visible(actionText(action))}{' '}
            {hasAccounts && action !== 'pause' && action !== 'resume' ? 'of ' : ''}
            {!hasAccounts ? null : account === ALL_ACCOUNTS ? (
              'all accounts'
            ) : (
              <AccountLink name={account} />
            )}{' '}
            <Inline
              line={detail === null ? [] : [action === 'approve' ? code(detail.slice(7, 15)) : `“${detail}”`]}
            />
          </span>{' '}
          <span class="quiet">
            {via === 'cli' ? 'CLI, ' : ''}
            <Instant at={at} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function detailsOf(account: AccountView | null, runs: readonly RunRecord[], links: Links): Fact[] {
  const { schedule, timezone, consecutiveFailures = 0, approved = null } = account ?? {};
  const [lastRun] = runs;
  const commit = lastRun === undefined ? null : commitLine(lastRun, links);
  const written = runs.find(({ created, deleted }) => created + deleted > 0);
  const changes = count((written?.created ?? 0) + (written?.deleted ?? 0), 'change');
  const remoteId = account === null ? lastRun?.remoteAccountId : account.remoteAccountId;
  const fact = (label: string, line: Line | '' | false | null | undefined): Fact[] =>
    line ? [{ label, line }] : [];
  return [
    ...fact('Account id', remoteId && [code(remoteId)]),
    ...fact('File', account && [code(account.file)]),
    ...fact('Commit', commit),
    ...fact('Schedule', schedule && [code(schedule), timezone === null ? '' : ` ${timezone}`]),
    ...fact('Last success', account?.lastSuccessAt && [{ time: account.lastSuccessAt }]),
    ...fact('Last write', written && [{ time: written.startedAt }, `, ${changes}`]),
    ...fact('Failures in a row', consecutiveFailures > 0 && [String(consecutiveFailures)]),
    ...fact('Approved', approved && [`${byWhom(approved.by)}, expires `, { time: approved.expiresAt }]),
  ];
}

export const CHART_DAYS = 90;
const WIDTH = 300;
const HEIGHT = 84;

/** How many skills and roles the account had on each day, as a line with a step for each change. */
function Chart({ counts }: Pick<History, 'counts'>) {
  const nowMs = useContext(PageTime) ?? 0;
  const now = { skill: 0, role: 0, resource: 0 };
  const days = new Map<string, number>();
  for (const { takenAt, kind, entries } of counts) {
    now[kind] = entries;
    days.set(takenAt.slice(0, 10), now.skill + now.role);
  }
  // One day is no line.
  if (days.size < 2) return null;
  const [[day, first] = ['', 0]] = days;
  const [low, high] = [Math.min(...days.values()), Math.max(...days.values())];
  const startMs = Date.parse(day);
  const x = (at: string) => Math.round(((Date.parse(at) - startMs) / Math.max(1, nowMs - startMs)) * WIDTH);
  const y = (entries: number) => Math.round(62 - ((entries - low) / (high - low || 1)) * 40);
  const steps = [...days].map(([at, entries]) => `H${x(at)}V${y(entries)}`).join('');
  const total = now.skill + now.role;
  const course = `${first} entries at first, ${total} now`;
  const label = (at: number, text: string, isRight: boolean) => (
    <text x={isRight ? WIDTH : 0} y={at} text-anchor={isRight ? 'end' : 'start'}>
      {text}
    </text>
  );
  return (
    <Card title={`Entries, ${CHART_DAYS} days`} aside={low === high ? '' : `${low} to ${high}`}>
      <svg class="chart" role="img" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-label={course}>
        <path d={`M0 ${y(first)}${steps}H${WIDTH}`} />
        {label(y(total) - 7, String(total), true)}
        {label(HEIGHT - 3, relativeTime(day, nowMs), false)}
        {label(HEIGHT - 3, 'now', true)}
      </svg>
    </Card>
  );
}

/** Whether a run of the account works, or starts soon: the daemon finds an approval a moment later. */
export function isChanging(account: AccountView): boolean {
  const { activity, lastRun, pending, pause } = account;
  const isAboutToApply = pending !== null && pause === null && !waitsForApproval(account);
  return activity !== 'idle' || lastRun?.status === 'running' || isAboutToApply;
}
