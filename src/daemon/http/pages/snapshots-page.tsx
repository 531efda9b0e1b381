// The snapshots of an account, newest first, with the changes between two of them.
import { listSize, type SnapshotRecord } from '../../../core/snapshots.ts';
import { instant } from '../../../report/formatting.ts';
import { Instant } from '../../../report/html.tsx';
import { accountPath } from '../account-path.ts';
import type { Visitor } from '../context.ts';
import { AccountHeading } from './account-heading.tsx';
import { Layout } from './layout.tsx';
import { Pager } from './pager.tsx';
import { RelativeInstant } from './relative-instant.tsx';

interface SnapshotsPageProps {
  readonly account: string;
  /** Newest first. */
  readonly snapshots: readonly SnapshotRecord[];
  /** Where older ones are; null when there are none. */
  readonly olderAt: string | null;
  readonly nowMs: number;
  readonly visitor: Visitor | undefined;
}

const COUNTS = [
  ['Skills', 'skill'],
  ['Roles', 'role'],
  ['People', 'resource'],
] as const;

export function SnapshotsPage({ account, snapshots, olderAt, nowMs, visitor }: SnapshotsPageProps) {
  return (
    <Layout title={`Snapshots of ${account}`} visitor={visitor}>
      <AccountHeading title="Snapshots" account={account} />
      {snapshots.length === 0 ? (
        <p class="quiet">No lists of this account are stored.</p>
      ) : (
        <form method="get" action={`${accountPath(account)}/difference`}>
          <p>
            <button type="submit">Show the changes between two</button>
          </p>
          <table class="cards snapshots">
            <thead>
              <tr>
                <th scope="col">Taken (UTC)</th>
                <th scope="col">Compare</th>
                <th scope="col">Run</th>
                {COUNTS.map(([head]) => (
                  <th scope="col" class="number">
                    {head}
                  </th>
                ))}
                <th scope="col">Since the one before</th>
              </tr>
            </thead>
            <tbody>
              {snapshots.map((snapshot, index) => (
                <SnapshotRow snapshots={snapshots} index={index} snapshot={snapshot} nowMs={nowMs} />
              ))}
            </tbody>
          </table>
        </form>
      )}
      <Pager
        label="Snapshots"
        position=""
        previous={null}
        next={olderAt === null ? null : { href: olderAt, text: 'Older' }}
      />
    </Layout>
  );
}

interface SnapshotRowProps {
  readonly snapshots: readonly SnapshotRecord[];
  readonly index: number;
  readonly snapshot: SnapshotRecord;
  readonly nowMs: number;
}

function SnapshotRow({ snapshots, index, snapshot, nowMs }: SnapshotRowProps) {
  const { id, account, takenAt, runId, phase } = snapshot;
  const before = snapshots[index + 1];
  return (
    <tr>
      <th scope="row">
        <Instant at={takenAt} brief />
        <span class="ago quiet">
          {' '}
          <RelativeInstant at={takenAt} nowMs={nowMs} />
        </span>
      </th>
      <td data-head="Compare" class="compare">
        <Choice name="from" snapshot={snapshot} isChosen={index === Math.min(1, snapshots.length - 1)} />
        <Choice name="to" snapshot={snapshot} isChosen={index === 0} />
      </td>
      <td data-head="Run">
        {phase} <a href={`/runs/${runId}`}>the run</a>
      </td>
      {COUNTS.map(([head, kind]) => (
        <td class="number" data-head={head}>
          {listSize(snapshot, kind)}
        </td>
      ))}
      <td data-head="Since the one before">
        {before === undefined ? null : isSame(before, snapshot) ? (
          <span class="quiet">nothing changed</span>
        ) : (
          <a href={`${accountPath(account)}/difference?from=${before.id}&to=${id}`}>changes</a>
        )}
      </td>
    </tr>
  );
}

interface ChoiceProps {
  readonly name: 'from' | 'to';
  readonly snapshot: SnapshotRecord;
  readonly isChosen: boolean;
}

function Choice({ name, snapshot: { id, takenAt, phase }, isChosen }: ChoiceProps) {
  return (
    <label>
      <input
        type="radio"
        name={name}
        value={String(id)}
        checked={isChosen}
        aria-label={`${name} ${instant(takenAt)}, ${phase} the run`}
      />{' '}
      {name}
    </label>
  );
}

/** Equal lists have equal digests. */
function isSame(a: SnapshotRecord, b: SnapshotRecord): boolean {
  const digests = ({ lists }: SnapshotRecord) => lists.map(({ kind, digest }) => `${kind} ${digest}`).join();
  return digests(a) === digests(b);
}
