// What must hold after a process was broken and others continued: compares what the service received and stores with
// the rows of the store. Each breach is one sentence.
import type { SQLite } from '../../src/system/sqlite.ts';
import { type CrashScene, EXPECTED, inCopy, DELETABLE } from './crash-scene.ts';
import type { Arrival } from './gate.ts';

export interface RunRow {
  readonly id: string;
  readonly status: string;
  readonly created: number;
  readonly deleted: number;
  readonly held: number;
  readonly error_code: string | null;
}

export interface OperationRow {
  readonly run_id: string;
  readonly seq: number;
  readonly kind: string;
  readonly action: 'create' | 'delete';
  readonly name: string;
  readonly remote_id: string | null;
  readonly status: string;
  readonly attempts: number;
  readonly settled_by: string | null;
}

interface EntryRow {
  readonly kind: string;
  readonly remote_id: string;
  readonly name: string;
  readonly created_by_run: string | null;
  readonly last_seen_run: string | null;
  readonly deleted_by_run: string | null;
}

/** The content of the store at one moment. */
export interface StoreState {
  readonly integrity: string;
  readonly runs: readonly RunRow[];
  readonly operations: readonly OperationRow[];
  readonly entries: readonly EntryRow[];
  readonly leases: number;
  /** The commit that the account was last applied from. */
  readonly appliedFrom: string | null;
  /** Whether a run has stored complete lists, without which the next run holds its deletes (no_history). */
  readonly hasHistory: boolean;
}

export function inspectStore(store: string): StoreState {
  return inCopy(store, (database) => {
    const integrity = [
      database.pragma('integrity_check', { simple: true }),
      ...(database.pragma('foreign_key_check') as object[]).map((row) => JSON.stringify(row)),
    ].join();
    const hasTables =
      database.prepare(`select count(*) from sqlite_master where name = 'notices'`).pluck().get() === 1;
    const rows = <T>(sql: string): T[] =>
      hasTables ? ((database as SQLite.Database).prepare(sql).all() as T[]) : [];
    return {
      integrity,
      runs: rows('select * from runs order by id'),
      operations: rows('select * from operations order by run_id, seq'),
      entries: rows('select * from entries'),
      leases: rows('select * from accounts where lease_run is not null').length,
      appliedFrom:
        rows<{ last_applied_commit: string | null }>('select * from accounts')[0]?.last_applied_commit ??
        null,
      hasHistory: rows('select 1 from accounts where last_good_run is not null').length > 0,
    };
  });
}

export interface Broken {
  /** The broken run; null when it was not journaled yet. */
  readonly runId: string | null;
  /** The phase of the gate in which it ran. */
  readonly phase: string;
  /** Whether a request took effect after later runs had read the lists: then no run can find who made a delete. */
  readonly late?: boolean;
}

/** Everything that must hold at the end, whatever the break was. */
export function breaches(scene: CrashScene, end: StoreState, broken: Broken): string[] {
  return [
    ...serviceBreaches(scene),
    ...requestBreaches(scene),
    ...storeBreaches(end),
    ...operationBreaches(scene, end, broken),
    ...entryBreaches(scene, end, broken),
  ];
}

const sorted = (entries: readonly { readonly name: string }[]): string =>
  entries
    .map(({ name }) => name)
    .toSorted()
    .join(', ');

/** The catalog is the desired one, nobody lost an entry, and kept entries are still the same entries. */
export function serviceBreaches({ sandbox, seeded }: CrashScene): string[] {
  const { skills, roles, resources } = sandbox.state('acme');
  const kept = [...seeded.skills, ...seeded.roles].filter(({ name }) => !DELETABLE.includes(name));
  const ids = new Set([...skills, ...roles].map(({ id }) => id));
  return [
    ...(sorted(skills) === EXPECTED.skills.join(', ') ? [] : [`the skills are ${sorted(skills)}`]),
    ...(sorted(roles) === EXPECTED.roles.join(', ') ? [] : [`the roles are ${sorted(roles)}`]),
    ...kept.filter(({ id }) => !ids.has(id)).map(({ name }) => `${name} was deleted`),
    ...(JSON.stringify(resources) === JSON.stringify(seeded.resources)
      ? []
      : ['somebody lost what they had']),
  ];
}

/** No create took effect twice, no entry to keep was deleted, and each request had its row before it was sent. */
export function requestBreaches({ gate, seeded }: CrashScene): string[] {
  const writes = gate.arrivals.filter(({ method }) => method !== 'GET');
  const effects = writes.filter(({ effect }) => effect);
  const made = effects
    .filter(({ method }) => method === 'POST')
    .map(({ kind, subject }) => `${kind} ${subject}`);
  const deletable = new Set(
    [...seeded.skills, ...seeded.roles].filter(({ name }) => DELETABLE.includes(name)).map(({ id }) => id),
  );
  const twice = made.filter((name, index) => made.indexOf(name) !== index);
  const wrong = writes.filter(({ method, subject }) => method === 'DELETE' && !deletable.has(subject));
  // On a busy machine the client may have timed out before the gate reads the request.
  const rowless = writes.filter(({ seen }) => seen !== 'sent' && seen !== 'unknown');
  return [
    ...twice.map((name) => `${name} was created twice`),
    ...wrong.map(({ subject }) => `a delete of ${subject} was sent`),
    ...rowless.map((write) => `${labelOf(write)} left while its row was ${write.seen}`),
  ];
}

function labelOf({ method, kind, subject, phase }: Arrival): string {
  return `${method} ${kind} ${subject} (${phase})`;
}

/** The store is not damaged, and has no leases and no open operations. */
export function storeBreaches({ integrity, runs, operations, leases }: StoreState): string[] {
  const open = operations.filter(
    ({ status, settled_by }) =>
      status === 'pending' || status === 'sent' || (status === 'unknown' && settled_by === null),
  );
  return [
    ...(integrity === 'ok' ? [] : [`the store is damaged: ${integrity}`]),
    ...(leases === 0 ? [] : [`${leases} leases remain`]),
    ...runs.filter(({ status }) => status === 'running').map(({ id }) => `run ${id} is still running`),
    ...open.map(({ action, name, status }) => `the ${action} of ${name} is still ${status}`),
  ];
}

/** Each row matches what the service received, in the broken run and in later runs. */
function operationBreaches({ gate }: CrashScene, { operations, runs }: StoreState, broken: Broken): string[] {
  const writes = gate.arrivals.filter(({ method }) => method !== 'GET');
  return runs.flatMap((run) => {
    const isBroken = run.id === broken.runId;
    const own = operations.filter(({ run_id }) => run_id === run.id);
    const arrived = writes.filter(({ phase }) => isBroken === (phase === broken.phase));
    const mismatches = own.flatMap((row) => {
      const its = arrived.filter((arrival) => belongsTo(arrival, row));
      const wrong = isBroken
        ? isMismatch(row, its, broken)
        : row.status === 'done' && row.attempts > 0 && !its.some(({ effect }) => effect);
      // A second delete of an entry that a late delete removed finds no entry.
      if (!isBroken && broken.late === true && row.action === 'delete') return [];
      return wrong === false
        ? []
        : [
            `run ${run.status}: the ${row.action} of ${row.name} is ${row.status}, the service saw ${its.map(({ effect }) => (effect ? 'an effect' : 'no effect')).join() || 'nothing'}`,
          ];
    });
    const rowless = isBroken ? arrived.filter((arrival) => !own.some((row) => belongsTo(arrival, row))) : [];
    return [
      ...mismatches,
      ...rowless.map((write) => `${labelOf(write)} has no row`),
      ...countBreaches(run, own),
    ];
  });
}

function isMismatch(
  { status, action, settled_by }: OperationRow,
  its: readonly Arrival[],
  { late }: Broken,
): boolean {
  const effect = its.some((arrival) => arrival.effect);
  switch (status) {
    case 'done':
      return !effect;
    case 'unknown':
      return settled_by === null || (effect && !(late === true && action === 'delete'));
    case 'skipped':
    case 'held':
      return its.length > 0;
    default:
      return true;
  }
}

/** Whether a request belongs to a row. */
export function belongsTo({ method, kind, subject }: Arrival, row: OperationRow): boolean {
  return (
    kind === row.kind &&
    (method === 'POST') === (row.action === 'create') &&
    subject === (row.action === 'create' ? row.name : row.remote_id)
  );
}

function countBreaches(run: RunRow, own: readonly OperationRow[]): string[] {
  const count = (action: string): number =>
    own.filter((row) => row.action === action && row.status === 'done' && row.attempts > 0).length;
  const [created, deleted] = [count('create'), count('delete')];
  if (run.created === created && run.deleted === deleted) return [];
  return [`run ${run.status} counts +${run.created} -${run.deleted}, its operations +${created} -${deleted}`];
}

/** The recorded history of every entry matches the service. */
function entryBreaches({ sandbox, gate }: CrashScene, { entries }: StoreState, broken: Broken): string[] {
  const { skills, roles } = sandbox.state('acme');
  const existing = [
    ...skills.map((entry) => ({ ...entry, kind: 'skill' })),
    ...roles.map((entry) => ({ ...entry, kind: 'role' })),
  ];
  const creationOf = (kind: string, name: string): Arrival | undefined =>
    gate.arrivals.find(
      (each) => each.effect && each.method === 'POST' && each.kind === kind && each.subject === name,
    );
  const isByBroken = ({ remote_id }: EntryRow): boolean =>
    gate.arrivals.some((each) => each.effect && each.phase === broken.phase && each.subject === remote_id);
  const wrong = existing.flatMap(({ kind, id, name }) => {
    const row = entries.find((entry) => entry.kind === kind && entry.remote_id === id);
    const creation = creationOf(kind, name);
    if (row === undefined) return [`entries has no ${name}`];
    const byBroken = creation?.phase === broken.phase;
    return [
      ...(row.name === name ? [] : [`entries calls ${name} ${row.name}`]),
      ...(row.deleted_by_run === null ? [] : [`entries records that ${name} was deleted`]),
      ...(row.last_seen_run === null ? [`entries records that ${name} was never seen`] : []),
      ...((row.created_by_run !== null) === (creation !== undefined)
        ? []
        : [`entries records of ${name}: created by ${row.created_by_run ?? 'nobody'}`]),
      ...(creation === undefined || byBroken === (row.created_by_run === broken.runId)
        ? []
        : [`entries gives ${name} to the wrong run`]),
    ];
  });
  const gone = entries.filter(
    ({ kind, remote_id }) => !existing.some((entry) => entry.kind === kind && entry.id === remote_id),
  );
  // An entry that a late delete of the broken run removed looks as if somebody else had deleted it.
  const unreported = gone.filter(
    (row) => row.deleted_by_run === null && !(broken.late === true && isByBroken(row)),
  );
  return [...wrong, ...unreported.map(({ name }) => `entries does not record that ${name} was deleted`)];
}
