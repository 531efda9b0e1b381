// The section of the overview that shows the processes which share the accounts.
import type { ReplicaRecord } from '../../../core/turns.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { shortCommit } from '../../../report/formatting.ts';
import { RelativeInstant } from './page-parts.tsx';

interface ReplicaTableProps {
  readonly replicas: readonly ReplicaRecord[];
  readonly nowMs: number;
}

const HEADS = ['Replica', 'State', 'Alive since', 'Last beat', 'Commit'] as const;

/** Nothing where this process is the only one. */
export function ReplicaTable({ replicas, nowMs }: ReplicaTableProps) {
  if (replicas.length === 0) return null;
  return (
    <section>
      <h2>Replicas</h2>
      <table class="cards">
        <thead>
          <tr>
            {HEADS.map((head) => (
              <th scope="col">{head}</th>
            ))}
            <th scope="col" class="number">
              Runs now
            </th>
          </tr>
        </thead>
        <tbody>
          {replicas.map((replica) => (
            <ReplicaRow replica={replica} nowMs={nowMs} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ReplicaRow({ replica, nowMs }: { readonly replica: ReplicaRecord; readonly nowMs: number }) {
  const { host, pid, isAlive, isSelf, startedMs, beatMs, commit, hasNewest, runs } = replica;
  const at = (ms: number): string => new Date(ms).toISOString();
  return (
    <tr>
      <th scope="row">
        {visible(host)}, process {pid}
        {isSelf ? <span class="quiet"> (this one)</span> : null}
      </th>
      <td data-head="State">
        {isAlive ? <span class="badge good">alive</span> : <span class="badge bad">lost</span>}
      </td>
      <td data-head="Alive since">
        <RelativeInstant at={at(startedMs)} nowMs={nowMs} />
      </td>
      <td data-head="Last beat">
        <RelativeInstant at={at(beatMs)} nowMs={nowMs} />
      </td>
      <td data-head="Commit">
        {commit === null ? '–' : <code>{visible(shortCommit(commit))}</code>}
        {isAlive && !hasNewest ? <span class="quiet"> (not the newest)</span> : null}
      </td>
      <td data-head="Runs now" class="number">
        {runs}
      </td>
    </tr>
  );
}
