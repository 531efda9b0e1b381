// Who approved, paused, resumed and ran an account, newest first.
import type { OperatorAction, OperatorActionRecord } from '../../../core/operator.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { Instant } from '../../../report/html.tsx';
import { ColumnHeads } from './column-heads.tsx';
import { RelativeInstant } from './relative-instant.tsx';

const LABELS: Readonly<Record<OperatorAction, string>> = {
  sync: 'requested a run',
  approve: 'approved a plan',
  pause: 'paused',
  resume: 'resumed',
};

interface OperatorActionsProps {
  readonly actions: readonly OperatorActionRecord[];
  readonly nowMs: number;
}

export function OperatorActions({ actions, nowMs }: OperatorActionsProps) {
  if (actions.length === 0) return <p class="quiet">No operator has approved, paused, resumed or run it.</p>;
  return (
    <table class="cards actions-table">
      <ColumnHeads texts={['When (UTC)', 'Who', 'What', 'Detail']} />
      <tbody>
        {actions.map(({ at, action, by, via, detail }) => (
          <tr>
            <th scope="row">
              <Instant at={at} brief />
              <span class="ago quiet">
                {' '}
                <RelativeInstant at={at} nowMs={nowMs} />
              </span>
            </th>
            <td data-head="Who">
              {visible(by)} <span class="quiet">{via === 'cli' ? 'on the command line' : 'over HTTP'}</span>
            </td>
            {/* A newer version may have recorded an action without a label here. */}
            <td data-head="What">{Object.hasOwn(LABELS, action) ? LABELS[action] : visible(action)}</td>
            <td data-head="Detail">{detail === null ? null : <Detail action={action} detail={detail} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Detail({ action, detail }: { readonly action: OperatorAction; readonly detail: string }) {
  return action === 'approve' ? <code>{visible(detail)}</code> : <>{visible(detail)}</>;
}
