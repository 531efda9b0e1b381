// Checks a run after it has ended: the journal against the requests that the service received, and the status against
// both.
import type { Kind } from '../../../src/core/catalog.ts';
import type { RunResult } from '../../../src/run/run-result.ts';
import { KINDS } from '../../../src/core/catalog.ts';
import type { Call } from '../traffic.ts';
import { receivedEntries } from './received-lists.ts';
import { isDoubtful } from './ledger.ts';
import { exactly, loosely } from './names.ts';
import type { OracleContext, Watch } from './oracle.ts';
import { wishedOf } from './oracle.ts';
import { LIMITS } from './world.ts';
import type { Row } from './world.ts';

export interface Ended {
  readonly watch: Watch;
  readonly result: RunResult;
  readonly rows: readonly Row[];
  /** Of this run only. */
  readonly calls: readonly Call[];
  /** Whether all lists were correct and nobody else changed anything during the run. */
  readonly wasUndisturbed: boolean;
}

const BAD = new Set(['failed', 'unknown', 'skipped', 'pending', 'sent']);

/** What is wrong with a run that has ended; empty when nothing is. */
export function judgeRun(ended: Ended, context: OracleContext): string[] {
  return [...judgeRows(ended, context), ...judgeStatus(ended, context)];
}

function callsOf(row: Row, calls: readonly Call[]): Call[] {
  return calls.filter(
    (call) =>
      call.kind === row.kind &&
      (row.action === 'create'
        ? call.method === 'POST' && call.name === row.name
        : call.method === 'DELETE' && call.remoteId === row.remote_id),
  );
}

function* judgeRows(ended: Ended, context: OracleContext): Generator<string> {
  const { watch, rows, calls, result } = ended;
  if (result.plan !== null) {
    for (const row of rows) {
      const known = result.ended.operations.find(({ seq }) => seq === row.seq);
      if (known?.status !== row.status || known.attempts !== row.attempts)
        yield `the result has the operation ${row.seq} as ${known?.status ?? 'none'}, and the journal as ${row.status}`;
    }
  }
  const writes = calls.filter(({ method }) => method !== 'GET');
  if (watch.mode === 'plan' && writes.length > 0) yield 'a dry run wrote';
  for (const call of writes) {
    if (!rows.some((row) => callsOf(row, [call]).length > 0)) {
      yield `${call.method} ${call.kind} ${call.name ?? call.remoteId ?? ''} has no row`;
    }
  }
  for (const row of rows) {
    const sent = callsOf(row, calls);
    const what = `${row.action} ${row.kind} “${row.name}” (${row.status})`;
    const effects = sent.filter((call) => context.ledger.hadEffect(call, context.calls));
    if (row.attempts !== sent.length)
      yield `${what}: ${row.attempts} attempts, and the service saw ${sent.length}`;
    if (row.status === 'sent' || row.status === 'pending') yield `${what}: the run has ended`;
    if (row.status === 'skipped' && sent.length > 0) yield `${what}: it was sent`;
    if (row.status === 'failed' && effects.length > 0 && !wasUndone(row, ended))
      yield `${what}: it took effect`;
    if (row.status === 'unknown' && !sent.some(isDoubtful)) yield `${what}: no answer was lost`;
    if (row.status === 'done') yield* judgeDone(row, what, effects, ended, context);
  }
}

/**
 * Whether a create that took effect was refused when it was sent again, after others had removed or renamed its entry.
 */
function wasUndone(row: Row, { calls, wasUndisturbed }: Ended): boolean {
  const sent = callsOf(row, calls);
  const lists = receivedEntries(calls, row.kind).filter(({ call }) => call.seq > (sent[0]?.seq ?? 0));
  const wasSeen = lists.some(({ entries }) =>
    [...entries.values()].some((name) => loosely(name) === loosely(row.name)),
  );
  return row.action === 'create' && !wasUndisturbed && sent.length > 1 && lists.length > 0 && !wasSeen;
}

function* judgeDone(
  row: Row,
  what: string,
  effects: readonly Call[],
  { calls, result: { status } }: Ended,
  { ledger, calls: all }: OracleContext,
): Generator<string> {
  if (row.action === 'create') {
    const wasThere = receivedEntries(calls, row.kind).some(({ entries }) =>
      [...entries.values()].some((name) => loosely(name) === loosely(row.name)),
    );
    if (effects.length === 0 && !wasThere) yield `${what}: it took no effect`;
    return;
  }
  // An entry that a list did not show counts as deleted, and so does a delete that was answered with success, whatever
  // the body is. If the entry still exists, the run must not end as converged or held.
  const isLive = ledger.live().some(({ kind, id }) => kind === row.kind && id === row.remote_id);
  const lacking = receivedEntries(calls, row.kind).filter(({ entries }) => !entries.has(row.remote_id ?? ''));
  const succeeded = callsOf(row, calls).some(({ answer }) => answer !== null && answer.status < 300);
  const [first, last] = [lacking[0]?.call.sentAtMs ?? 0, lacking.at(-1)?.call.sentAtMs ?? 0];
  const lackedTwice = lacking.length > 1 && last - first >= LIMITS.recheckMs;
  const isWell = status === 'converged' || status === 'held';
  if (isLive && !(succeeded && !isWell) && !(lackedTwice && (!isWell || lacking.length > 2)))
    yield `${what}: it still exists`;
  if (effects.length > 1) yield `${what}: it took effect ${effects.length} times of ${all.length}`;
}

function* judgeStatus(ended: Ended, context: OracleContext): Generator<string> {
  const { watch, result, rows, wasUndisturbed } = ended;
  const { status, plan } = result;
  const bad = rows.filter((row) => BAD.has(row.status));
  const held = rows.filter((row) => row.status === 'held');
  if (watch.mode === 'plan') {
    if (!['planned', 'blocked', 'failed', 'interrupted'].includes(status)) yield `a dry run ended ${status}`;
    return;
  }
  if ((status === 'converged' || status === 'held') && bad.length > 0) {
    yield `${status}, although ${bad.map((row) => `${row.name} is ${row.status}`).join(', ')}`;
  }
  if (status === 'converged' && held.length > 0) yield 'converged, although something is held';
  if (status === 'held' && held.length === 0) yield 'held, although nothing is';
  if (status === 'failed' && result.failure === null) yield 'failed, without a reason';
  if (result.failure?.code === 'internal') yield `a bug: ${result.failure.message}`;
  if ((status !== 'converged' && status !== 'held') || plan === null || !wasUndisturbed) return;
  yield* judgeCatalog(ended, context).map((problem) => `${status}, but ${problem}`);
}

/**
 * Undesired entries that exist and desired ones that are missing, if neither the plan nor the journal mentions them.
 */
function judgeCatalog({ watch, result, rows }: Ended, { ledger, calls: all }: OracleContext): string[] {
  const { plan } = result;
  const live = ledger.live();
  // A near name that others added looks like an entry that the service stored for a create whose response was lost.
  const mayBe = (kind: Kind, id: string, now: string, asked: string): boolean =>
    loosely(now) === loosely(asked) &&
    all.some(
      (call) => call.method === 'POST' && call.kind === kind && call.name === asked && isDoubtful(call),
    ) &&
    plan?.warnings.some(({ code, remoteId }) => code === 'name_changed' && remoteId === id) === true;
  return KINDS.flatMap((kind) => {
    const wished = wishedOf(watch.wish, kind);
    if (wished === undefined) return [];
    const exists = (name: string) =>
      live.some(
        (each) =>
          each.kind === kind &&
          (exactly(each.name) === exactly(name) || mayBe(kind, each.id, each.name, name)),
      ) ||
      ledger.made.some(
        (made) =>
          made.kind === kind &&
          exactly(made.asked) === exactly(name) &&
          live.some((each) => each.kind === kind && each.id === made.id),
      );
    const waits = (name: string) =>
      rows.some(
        (row) => row.kind === kind && row.action === 'create' && row.status === 'held' && row.name === name,
      );
    const missing = wished
      .filter(({ name }) => !exists(name) && !waits(name))
      .map(({ name }) => `the ${kind} “${name}” does not exist`);
    const mentioned = new Set([
      ...(plan?.leftAlone ?? []).map((each) => `${each.kind}:${each.remoteId}`),
      ...rows.filter((row) => row.status === 'held').map((row) => `${row.kind}:${row.remote_id}`),
    ]);
    const isWished = (id: string, name: string) =>
      wished.some(
        (each) =>
          exactly(each.name) === exactly(name) ||
          mayBe(kind, id, name, each.name) ||
          ledger.made.some(
            (made) => made.kind === kind && made.id === id && exactly(made.asked) === exactly(each.name),
          ),
      );
    const extra = live
      .filter((each) => each.kind === kind && !isWished(each.id, each.name))
      .filter((each) => !mentioned.has(`${kind}:${each.id}`))
      .map((each) => `the ${kind} “${each.name}” (${each.id}) exists, and nothing reports it`);
    return [...missing, ...extra];
  });
}
