// The section of `status` with the processes that share the accounts.
import type { ReplicaRecord } from '../core/turns.ts';
import { code, type Section, toned } from './document.ts';
import { shortCommit } from './formatting.ts';
import { relativeTime } from './relative-time.ts';

/** No section where one process runs all accounts. */
export function replicaSections(replicas: readonly ReplicaRecord[], nowMs: number): Section[] {
  if (replicas.length === 0) return [];
  const since = (ms: number): string => relativeTime(new Date(ms).toISOString(), nowMs);
  const columns = [
    { head: 'Replica' },
    { head: 'State' },
    { head: 'Alive since' },
    { head: 'Last beat' },
    { head: 'Commit' },
    { head: 'Runs', align: 'right' as const },
  ];
  const rows = replicas.map(({ host, pid, isAlive, startedMs, beatMs, commit, hasNewest, runs }) => [
    [code(`${host}, process ${pid}`)],
    [isAlive ? 'alive' : toned('bad', 'lost')],
    [since(startedMs)],
    [since(beatMs)],
    [...(commit === null ? [] : [code(shortCommit(commit))]), isAlive && !hasNewest ? ' not the newest' : ''],
    [String(runs)],
  ]);
  return [{ title: 'Replicas', groups: [{ columns, rows, heads: true }] }];
}
