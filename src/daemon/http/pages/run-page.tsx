// The page of one run: what `rolecall show` prints, with links.
import { code, type Fact } from '../../../report/document.ts';
import type { RunReport } from '../../../report/run-json.ts';
import { runReport } from '../../../report/run-report.ts';
import { commitLine } from '../../../report/run-status.ts';
import { duration, elapsedMs } from '../../../report/formatting.ts';
import type { Visitor } from '../context.ts';
import { Instant } from './instant.tsx';
import { Layout } from './layout.tsx';
import { Facts, Inline, Sections } from './report-view.tsx';
import { StatusBadge } from './run-table.tsx';

interface RunPageProps {
  readonly report: RunReport;
  readonly visitor: Visitor | undefined;
}

export function RunPage({ report, visitor }: RunPageProps) {
  const { run } = report;
  const document = runReport([report]).documents[0];
  const took = elapsedMs(run.startedAt, run.finishedAt);
  return (
    <Layout title={`Run of ${run.account}`} visitor={visitor}>
      <h1>
        Run of <a href={`/accounts/${encodeURIComponent(run.account)}`}>{run.account}</a>
      </h1>
      <p>
        <StatusBadge status={run.status} />
      </p>
      {document?.headline.map((line) => (
        <p>
          <Inline line={line} />
        </p>
      ))}
      {run.error === null ? null : (
        <div class="notice bad">
          {run.errorCode === null ? null : (
            <p>
              <code>{run.errorCode}</code>
            </p>
          )}
          <div class="lines">
            {document?.lines?.map((line) => (
              <div>
                <Inline line={line} />
              </div>
            ))}
          </div>
        </div>
      )}
      <p class="strong">
        <Inline line={document?.summary ?? []} />
      </p>
      <Facts facts={factsOf(report)}>
        <dt>Started</dt>
        <dd>
          <Instant at={run.startedAt} />
          {took === null ? '' : `, took ${duration(took)}`}
        </dd>
        {run.finishedAt === null ? null : (
          <>
            <dt>Ended</dt>
            <dd>
              <Instant at={run.finishedAt} />
            </dd>
          </>
        )}
      </Facts>
      <Sections sections={document?.sections ?? []} allAt={`/api/v1/runs/${run.id}`} />
    </Layout>
  );
}

function factsOf({ run }: RunReport): Fact[] {
  const commit = commitLine(run);
  const facts: (Fact | false)[] = [
    { label: 'Run', line: [code(run.id)] },
    run.remoteAccountId !== null && { label: 'Account id', line: [code(run.remoteAccountId)] },
    { label: 'Asked by', line: [`${run.trigger}, mode ${run.mode}`] },
    // Counted when the run ends.
    run.status !== 'running' && {
      label: 'Requests',
      line: [`${run.requests}${run.retries > 0 ? `, ${run.retries} of them retries` : ''}`],
    },
    commit !== null && { label: 'Commit', line: commit },
    run.planDigest !== null && { label: 'Plan', line: [code(run.planDigest)] },
  ];
  return facts.filter((fact) => fact !== false);
}
