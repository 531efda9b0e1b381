// The page of one run: the report that `rolecall show` prints, with links.
import { DocumentBody } from '../../../report/html.tsx';
import type { RunDetail } from '../../../core/journal-reader.ts';
import { runDocument } from '../../../report/run-report.ts';
import type { Visitor } from '../context.ts';
import { Layout } from './layout.tsx';
import { StatusBadge } from './run-table.tsx';

interface RunPageProps {
  readonly report: RunDetail;
  readonly visitor: Visitor | undefined;
}

export function RunPage({ report, visitor }: RunPageProps) {
  const { id, account, status, errorCode } = report.run;
  return (
    <Layout title={`Run of ${account}`} visitor={visitor}>
      <h1>
        Run of <a href={`/accounts/${encodeURIComponent(account)}`}>{account}</a>
      </h1>
      <p>
        <StatusBadge status={status} /> {errorCode === null ? null : <code>{errorCode}</code>}
      </p>
      <DocumentBody document={runDocument(report)} jsonAt={`/api/v1/runs/${id}`} />
    </Layout>
  );
}
