// The commands that operators gave for one account.
import type { OperatorActionRecord } from '../../../core/operator.ts';
import type { Visitor } from '../context.ts';
import { AccountHeading } from './account-heading.tsx';
import { Layout } from './layout.tsx';
import { OperatorActions } from './operator-actions.tsx';

interface ActionsPageProps {
  readonly account: string;
  /** The latest ones, newest first. */
  readonly actions: readonly OperatorActionRecord[];
  readonly nowMs: number;
  readonly visitor: Visitor | undefined;
}

export function ActionsPage({ account, actions, nowMs, visitor }: ActionsPageProps) {
  return (
    <Layout title={`Actions of operators on ${account}`} visitor={visitor}>
      <AccountHeading title="Actions of operators" account={account} />
      <OperatorActions actions={actions} nowMs={nowMs} />
    </Layout>
  );
}
