// The page at /activity: what operators did with all accounts, newest first, as `rolecall history --actions` lists it.
import type { OperatorActionRecord } from '../../../core/operator.ts';
import { actionsTable } from '../../../report/actions-report.ts';
import { GroupTable } from '../../../report/html.tsx';
import type { Visitor } from '../context.ts';
import { Layout, Live } from './layout.tsx';
import { Pager } from './page-parts.tsx';
import { RUNS_SHOWN } from './runs-page.tsx';

interface ActivityPageProps {
  /** At most one more than the page shows. */
  readonly actions: readonly OperatorActionRecord[];
  /** Whether newer ones precede them. */
  readonly isContinued: boolean;
  readonly visitor: Visitor | undefined;
}

export function ActivityPage({ actions, isContinued, visitor }: ActivityPageProps) {
  const shown = actions.slice(0, RUNS_SHOWN);
  const last = actions.length > shown.length ? shown.at(-1) : undefined;
  const next = last === undefined ? null : { href: `/activity?before=${last.seq}`, text: 'Older actions' };
  return (
    <Layout title="Activity" visitor={visitor} current="activity">
      <h1>Activity</h1>
      <Live>
        {shown.length === 0 ? (
          <p>{isContinued ? 'There are no older actions.' : 'No operator has done anything yet.'}</p>
        ) : (
          <GroupTable group={actionsTable(shown)} />
        )}
        <Pager
          label="Pages of actions"
          position=""
          previous={isContinued ? { href: '/activity', text: 'Newest actions' } : null}
          next={next}
        />
      </Live>
    </Layout>
  );
}
