// The page of a run: the report that `rolecall show` prints, with links, and its progress while it works. And the table of runs.
import type { Child } from 'hono/jsx';
import type { RunRecord } from '../../../core/schemas.ts';
import type { RunDetail, RunProgress } from '../../../core/ports/journal-reader.ts';
import { code, type Line, toned } from '../../../report/document.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { count, driftLine, duration, elapsedMs, joined } from '../../../report/formatting.ts';
import { Facts, Headline, Inline, Instant, Paste, Table, type TableColumn } from '../../../report/html.tsx';
import { runDocument, triggerText } from '../../../report/run-report.ts';
import { nextSteps, statusTone } from '../../../report/run-status.ts';
import { useFrame } from '../context.ts';
import { Layout } from './layout.tsx';
import { AccountLink, Card, RunLink, ShortCommit, LiveProgress } from './page-parts.tsx';
import { HeldCard, type PagePlace, PagedSections } from './paged-sections.tsx';

interface RunPageProps {
  readonly report: RunDetail;
  /** The file of its account, if it still has one. */
  readonly file: string | undefined;
  /** null when the run has ended. */
  readonly progress: RunProgress | null;
  /** The part of the changes that the page shows. */
  readonly place: PagePlace;
}

export function RunPage({ report, file, progress, place }: RunPageProps) {
  const { run, plan } = report;
  const { id, account, status, errorCode } = run;
  // What the plan holds has a card of its own.
  const document = runDocument({ ...report, plan: plan === null ? null : { ...plan, held: [] } }, 'full', {
    links: useFrame(),
  });
  const { headline: [result = [], ...more] = [], summary = [], facts = [], sections = [] } = document;
  const at = `/runs/${id}`;
  return (
    <Layout
      title={`Run of ${account}`}
      current="runs"
      trail={[<a href="/runs">Runs</a>, <AccountLink name={account} />, <Instant at={run.startedAt} />]}
      isReloaded={progress !== null}
    >
      <h1>
        Run of {visible(account)} <StatusBadge status={status} />{' '}
        {errorCode === null ? null : <code class="quiet">{visible(errorCode)}</code>}
      </h1>
      <div class="columns">
        <div>
          <Card title={<Inline line={progress === null ? result : ['A run is in progress.']} />}>
            {progress === null ? (
              <Headline document={{ ...document, headline: [summary, ...more] }} />
            ) : (
              <LiveProgress runId={id} progress={progress} />
            )}
            <NextSteps run={run} />
            {progress === null || sections.length === 0 ? null : (
              <p class="quiet">The lists below were read when this page was loaded.</p>
            )}
            <PagedSections sections={sections} at={at} place={place} />
          </Card>
          {plan === null ? null : <HeldCard plan={plan} at={at} place={place} file={file} />}
          <Restore runs={run.deleted > 0 ? [run] : []} />
        </div>
        <aside aria-label="About this run">
          <Card title="Details" aside={<a href={`/api/v1/runs/${id}`}>as JSON</a>}>
            <Facts facts={facts} />
          </Card>
        </aside>
      </div>
    </Layout>
  );
}

/** The status of a run, coloured. */
function StatusBadge({ status }: { readonly status: RunRecord['status'] }) {
  return <span class={`badge is-${status} ${statusTone(status)}`}>{visible(status)}</span>;
}

/** A run, and how many runs before it were equal to it. */
interface FoldedRun {
  readonly run: RunRecord;
  readonly equal: number;
  /** When the first of them began. */
  readonly sinceAt: string;
}

/** Equal runs in a row as one, the newest of them. */
function foldRuns(runs: readonly RunRecord[]): FoldedRun[] {
  const folded: FoldedRun[] = [];
  // What differs between runs with an equal result.
  const keyOf = (run: RunRecord) =>
    JSON.stringify({ ...run, id: '', startedAt: '', finishedAt: '', requests: 0, retries: 0, trigger: '' });
  for (const run of runs) {
    const last = folded.at(-1);
    if (last !== undefined && keyOf(last.run) === keyOf(run)) {
      folded[folded.length - 1] = { run: last.run, equal: last.equal + 1, sinceAt: run.startedAt };
    } else folded.push({ run, equal: 0, sinceAt: run.startedAt });
  }
  return folded;
}

const COLUMNS: readonly TableColumn<FoldedRun>[] = [
  {
    head: 'Started',
    cell: ({ run, equal, sinceAt }) => (
      <>
        <RunLink run={run} />
        {equal === 0 ? null : (
          <div class="note">
            and {count(equal, 'equal run')}, the first <Instant at={sinceAt} />
          </div>
        )}
      </>
    ),
  },
  { head: 'Account', is: 'account', cell: ({ run }) => <AccountLink name={run.account} /> },
  { head: 'Status', is: 'state', cell: ({ run }) => <StatusBadge status={run.status} /> },
  { head: 'What', is: 'what', cell: ({ run }) => <Inline line={doneBy(run)} /> },
  { head: 'Trigger', is: 'trigger', cell: ({ run }) => visible(`${triggerText(run)}, ${run.mode}`) },
  { head: 'Commit', is: 'commit', cell: ({ run }) => <ShortCommit run={run} /> },
  { head: 'Duration', is: 'number', cell: ({ run }) => duration(elapsedMs(run.startedAt, run.finishedAt)) },
];

const SHOWN_RUNS = 20;

/** The runs of all accounts. */
export function RunTable({ runs }: { readonly runs: readonly RunRecord[] }) {
  const rows = runs.map((run) => ({ run, equal: 0, sinceAt: run.startedAt }));
  return <Table name="card runs" columns={COLUMNS} groups={[['', rows]]} />;
}

/** Those of one account, equal ones in a row as one. */
export function AccountRuns({ runs }: { readonly runs: readonly RunRecord[] }) {
  const columns = COLUMNS.filter(({ is }) => is !== 'account');
  return <Table name="runs" columns={columns} groups={[['', foldRuns(runs).slice(0, SHOWN_RUNS)]]} />;
}

/** What the run did. One that only planned has done nothing; what it would do is more useful. */
function doneBy(run: RunRecord): Line {
  const { status, errorCode, plannedCreates, plannedDeletes } = run;
  const isPlan = status === 'planned' && run.created + run.deleted === 0;
  const planned = driftLine({ create: plannedCreates ?? 0, delete: plannedDeletes ?? 0 });
  const counts = (['created', 'deleted', 'held', 'failed'] as const).filter((each) => run[each] > 0);
  const parts: Line[] = [
    ...(errorCode === null ? [] : [[code(errorCode)]]),
    ...(isPlan && planned.length > 0 ? [[...planned, ' planned']] : []),
    ...counts.map((each) => [`${run[each]} ${each}`]),
  ];
  if (parts.length > 0) return joined(parts, ', ');
  return [toned('quiet', status === 'running' ? 'nothing written yet' : 'nothing to do')];
}

/** A command for the machine of the daemon. */
function Command({ purpose, command }: { readonly purpose: Child; readonly command: string }) {
  return (
    <>
      <p>{purpose}:</p>
      <Paste lines={[command]} />
    </>
  );
}

/** What to do after a run that failed or was stopped. */
export function NextSteps({ run }: { readonly run: RunRecord }) {
  const steps = statusTone(run.status) === 'bad' ? nextSteps({ run, plan: null }, 'full') : [];
  return (
    <>
      {steps.map(({ command, purpose }) => (
        <Command purpose={`Next, on the machine of the daemon; it ${purpose}`} command={command} />
      ))}
    </>
  );
}

/** How to recreate what these runs deleted. */
export function Restore({ runs }: { readonly runs: readonly RunRecord[] }) {
  return runs.length === 0 ? null : (
    <Card title="Restore what was deleted" aside="prints the lines that recreate it, and who had it">
      {runs.map(({ id, deleted, startedAt }) => (
        <Command
          purpose={
            <Inline line={[`${count(deleted, 'entry was', 'entries were')} deleted `, { time: startedAt }]} />
          }
          command={`rolecall restore ${id}`}
        />
      ))}
    </Card>
  );
}
