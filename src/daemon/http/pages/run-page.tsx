// The page of a run: the report that `rolecall show` prints, with links, and its progress while it works.
import type { RunDetail, RunProgress } from '../../../core/ports/journal-reader.ts';
import { Facts, Headline, Instant, Summary } from '../../../report/html.tsx';
import { runDocument } from '../../../report/run-report.ts';
import type { Visitor } from '../context.ts';
import { Layout } from './layout.tsx';
import { AccountLink } from './page-parts.tsx';
import { heldOf, type PagePlace, PagedSections } from './paged-sections.tsx';
import { LiveProgress, RELOAD_AFTER_S } from './progress-bar.tsx';
import { StatusBadge } from './run-table.tsx';

/** What every page needs that shows a plan or a run. */
export interface PageView {
  /** The part of the changes that the page shows. */
  readonly place: PagePlace;
  readonly nowMs: number;
  readonly visitor: Visitor | undefined;
}

interface RunPageProps extends PageView {
  readonly report: RunDetail;
  /** null when the run has ended. */
  readonly progress: RunProgress | null;
}

export function RunPage({ report, progress, place, nowMs, visitor }: RunPageProps) {
  const { id, account, status, errorCode } = report.run;
  const document = runDocument(report);
  const { summary, facts = [], sections = [] } = document;
  return (
    <Layout
      title={`Run of ${account}`}
      visitor={visitor}
      {...(progress === null ? {} : { reloadAfterS: RELOAD_AFTER_S })}
    >
      <h1>
        Run of <AccountLink name={account} />
      </h1>
      <p>
        <StatusBadge status={status} /> {errorCode === null ? null : <code>{errorCode}</code>}
      </p>
      {progress === null ? (
        <>
          <Headline document={document} />
          {summary === undefined ? null : <Summary line={summary} />}
        </>
      ) : (
        <LiveProgress runId={id} progress={progress} nowMs={nowMs} />
      )}
      <Facts facts={facts} />
      {progress === null || sections.length === 0 ? null : (
        <p class="quiet">
          The lists below are from <Instant at={new Date(nowMs).toISOString()} />.
        </p>
      )}
      <PagedSections sections={sections} at={`/runs/${id}`} place={place} held={heldOf(report.plan)} />
      <p class="quiet foot">
        <a href={`/api/v1/runs/${id}`}>This run as JSON</a>
      </p>
    </Layout>
  );
}
