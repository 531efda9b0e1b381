// Checks each create and delete when it arrives at the service, with the documented rules and with what the program had
// received until then. It contains no knowledge of how the program decides.
import type { Kind } from '../../../src/core/catalog.ts';
import type { Plan } from '../../../src/core/plan.ts';
import type { Call } from '../traffic.ts';
import { answeredJson } from '../traffic.ts';
import type { ReceivedEntries, ReceivedPerson } from './received-lists.ts';
import { holdersOf, receivedEntries, receivedPeople } from './received-lists.ts';
import type { Ledger } from './ledger.ts';
import { isConfirmed, isDoubtful } from './ledger.ts';
import { exactly, globMatches, loosely } from './names.ts';
import type { Wish, WishedEntry } from './script.ts';
import { STALENESS_MS } from '../../../src/core/history.ts';
import { LIMITS, REMOTE_ID } from './world.ts';

const DAY_MS = 86_400_000;
const READ_AGAIN_MS = 60_000;
/** Both ends look at the clock at slightly different moments. */
const SLACK_MS = 50;
/** The journal has the time of the lists, and a story that of the end of their run. */
const MARGIN_MS = 600_000;

/** A run as the oracle sees it while it is running. */
export interface Watch {
  readonly number: number;
  readonly mode: 'plan' | 'approve' | 'apply';
  readonly wish: Wish;
  /** `seq` of the first call of the run. */
  readonly firstCall: number;
  /** The approval that was given and not used up when the run began. */
  readonly approval: { readonly digest: string; readonly givenAtMs: number } | null;
  readonly acceptNoEvidence: boolean;
  /** The people and entries of the last run; null if its lists may have been wrong. */
  readonly good: GoodLists | null;
  runId: string | null;
  plan: Plan | null;
  stoppedAtMs: number | null;
}

export interface GoodLists {
  readonly atMs: number;
  readonly people: readonly ReceivedPerson[];
  readonly entries: Readonly<Record<Kind, ReadonlySet<string>>>;
}

export interface OracleContext {
  readonly calls: readonly Call[];
  readonly ledger: Ledger;
  readonly isSent: (runId: string, kind: Kind, action: 'create' | 'delete', what: string) => boolean;
  /** Entries that the file of an applied run listed, as `kind:id`. */
  readonly adopted: ReadonlySet<string>;
}

export function wishedOf(wish: Wish, kind: Kind): readonly WishedEntry[] | undefined {
  return kind === 'skill' ? wish.skills : wish.roles;
}

/** What is wrong with a request that has just arrived at the service; empty if nothing is. */
export function judgeArrival(call: Call, watch: Watch, context: OracleContext): string[] {
  if (call.method === 'GET' || call.kind === 'resource') {
    return call.method === 'GET' ? [] : [`a ${call.method} of a person was sent`];
  }
  const problems = [...judgeWriting(call, watch, context)];
  problems.push(
    ...(call.method === 'POST'
      ? judgeCreate(call, call.kind, call.name ?? '', watch, context)
      : judgeDelete(call, call.kind, call.remoteId ?? '', watch, context)),
  );
  const what = call.method === 'POST' ? `create of “${call.name ?? ''}”` : `delete of ${call.remoteId ?? ''}`;
  return problems.map((problem) => `${call.kind}: ${what}: ${problem}`);
}

/** What holds for every write: a mode that writes, a committed row, an approved plan, and no request to stop. */
function* judgeWriting(call: Call, watch: Watch, context: OracleContext): Generator<string> {
  const { plan, runId, mode } = watch;
  if (mode === 'plan') yield 'a dry run wrote';
  if (watch.wish.policy.frozen) yield 'it was sent in a freeze window';
  if (call.kind === 'resource' || wishedOf(watch.wish, call.kind) === undefined) {
    yield 'the kind is not managed';
    return;
  }
  if (plan === null || runId === null) {
    yield 'there was no plan yet';
    return;
  }
  const action = call.method === 'POST' ? 'create' : 'delete';
  const what = (action === 'create' ? call.name : call.remoteId) ?? '';
  const isNamed = plan.operations.some(
    (each) =>
      each.action === action &&
      each.kind === call.kind &&
      (action === 'create' ? each.name : each.remoteId) === what,
  );
  if (!isNamed) yield 'the plan does not name it';
  if (plan.status === 'blocked' && mode === 'apply') yield 'the plan was blocked';
  if (!context.isSent(runId, call.kind, action, what)) yield 'no row of the journal was `sent` before';
  if (watch.stoppedAtMs !== null && call.sentAtMs > watch.stoppedAtMs) yield 'it was begun after a stop';
  // A response is read in the turn of the event loop after the one in which it arrived.
  const foreign = context.calls
    .slice(watch.firstCall, call.seq)
    .find((each) => (each.endedTurn ?? Infinity) + 1 < call.sentTurn && hasForeignId(each));
  if (foreign !== undefined)
    yield `an answer before it (${foreign.method} ${foreign.kind}) was another account's`;
  if (mode === 'approve') {
    const { approval } = watch;
    if (approval?.digest !== plan.digest) yield 'nobody approved this plan';
    else if (Date.now() - approval.givenAtMs > DAY_MS) yield 'its approval was too old';
  }
}

/** Whether an object in a complete JSON response has the id of another account. */
export function hasForeignId(call: Call): boolean {
  const body = answeredJson(call);
  return [body].flat().some((each: unknown) => {
    if (typeof each !== 'object' || each === null || !('accountId' in each)) return false;
    return each.accountId !== REMOTE_ID;
  });
}

function* judgeCreate(
  call: Call,
  kind: Kind,
  name: string,
  watch: Watch,
  context: OracleContext,
): Generator<string> {
  const { calls, ledger } = context;
  if (!wishedOf(watch.wish, kind)?.some((each) => exactly(each.name) === exactly(name))) {
    yield 'nobody desires it';
  }
  const lists = receivedEntries(calls.slice(watch.firstCall), kind);
  const last = lists.at(-1);
  if (last === undefined) {
    yield 'no list was read before';
    return;
  }
  // An entry that the service stored for another desired name belongs to that name. A deleted entry may be listed for a
  // while, and counts as deleted for that time, even if the response to its delete was wrong.
  const wasDeleted = (id: string): boolean =>
    calls.some(
      (each) =>
        each.method === 'DELETE' &&
        each.remoteId === id &&
        (each.answer?.status ?? 500) < 300 &&
        call.sentAtMs - (each.endedAtMs ?? 0) < STALENESS_MS + SLACK_MS,
    );
  const live = new Set(
    ledger.live().flatMap((each) => (each.kind === kind && !wasDeleted(each.id) ? [each.id] : [])),
  );
  const isOthers = (id: string): boolean =>
    ledger.made.some((made) => made.kind === kind && made.id === id && exactly(made.asked) !== exactly(name));
  if (
    [...last.entries].some(
      ([id, listedName]) => exactly(listedName) === exactly(name) && live.has(id) && !isOthers(id),
    )
  )
    yield 'the last list shows it';

  const earlier = calls.filter(
    (each) => each !== call && each.method === 'POST' && each.kind === kind && each.name === name,
  );
  for (const before of earlier) {
    if (before.endedAtMs === null) {
      yield 'the same create is still under way';
    } else if (isDoubtful(before) && before.arrivedAtMs !== null) {
      // A later list that shows the entry determines the outcome.
      const seen = receivedEntries(calls.slice(before.seq), kind).some(({ entries }) =>
        [...entries.values()].some((listedName) => loosely(listedName) === loosely(name)),
      );
      const dueMs = before.endedAtMs + LIMITS.settleMs - SLACK_MS;
      if (!seen && call.sentAtMs < dueMs)
        yield 'an earlier one may have happened, and its settle has not passed';
      if (!seen && last.call.sentAtMs < dueMs) yield 'no list was read after the settle of an earlier one';
    }
  }
  // A service may change any name, so a new entry that no create explains may be the result of the lost one.
  const lost = earlier.filter((each) => isDoubtful(each) && each.arrivedAtMs !== null).at(-1);
  const isRecent = lost !== undefined && call.sentAtMs - lost.sentAtMs < DAY_MS - SLACK_MS;
  if (isRecent && !earlier.some((each) => each.seq > lost.seq && isConfirmed(each))) {
    const creates = calls.filter((each) => each.method === 'POST' && each.kind === kind);
    const wished = wishedOf(watch.wish, kind) ?? [];
    const names = [
      ...creates,
      ...wished.flatMap((each) => [each, ...(each.formerly ?? []).map((old) => ({ name: old }))]),
    ];
    const explained = new Set(names.map((each) => loosely(each.name ?? '')));
    const shown = receivedEntries(calls, kind).flatMap(({ call: { seq }, entries }) =>
      [...entries].flatMap(([id, listedName]) =>
        seq < lost.seq || explained.has(loosely(listedName)) ? [id] : [],
      ),
    );
    const known = new Set([...creates.filter(isConfirmed).map(confirmedId), ...shown]);
    const unclaimed = [...last.entries].find(([id]) => !known.has(id) && !wasDeleted(id));
    if (unclaimed !== undefined) yield `an earlier one may have made ${unclaimed.join(' ')}`;
  }
  const wasSent = calls
    .slice(watch.firstCall)
    .some(
      (each) =>
        each !== call &&
        each.method === 'POST' &&
        each.kind === kind &&
        each.name !== name &&
        (isConfirmed(each) || isDoubtful(each)),
    );
  if (wasSent && lists.every(({ entries }) => entries.size === 0))
    yield 'the list was empty, and none has shown the first create yet';
  for (const existing of ledger.live()) {
    if (existing.kind !== kind) continue;
    const made = ledger.made.find((each) => each.kind === kind && each.id === existing.id);
    if (exactly(made?.asked ?? existing.name) !== exactly(name)) continue;
    const isShown = ({ entries }: ReceivedEntries): boolean =>
      exactly(entries.get(existing.id) ?? '') === exactly(existing.name);
    if (watch.good?.entries[kind].has(existing.id) === true && !isShown(last)) {
      const without = lists.filter((list) => !isShown(list));
      if (without.length < 2) yield `only one list lacked ${existing.id}, which exists and was listed before`;
    }
    const confirmed = earlier.filter((each) => isConfirmed(each) && confirmedId(each) === existing.id);
    const wasShown = receivedEntries(calls, kind).some(({ entries }) => entries.has(existing.id));
    for (const { endedAtMs } of wasShown ? [] : confirmed) {
      if (call.sentAtMs - (endedAtMs ?? 0) < STALENESS_MS - SLACK_MS) {
        yield `its create was confirmed (${existing.id}) and no list needs to show it yet`;
      }
    }
  }
}

/** Whether these calls include a readable list of each kind. */
function wereListsRead(calls: readonly Call[]): boolean {
  const entries = [receivedEntries(calls, 'skill'), receivedEntries(calls, 'role')];
  return receivedPeople(calls).length > 0 && entries.every((lists) => lists.length > 0);
}

function confirmedId(call: Call): string {
  const body: unknown = JSON.parse(call.answer?.text ?? 'null');
  return typeof body === 'object' && body !== null && '_id' in body ? String(body._id) : '';
}

function* judgeDelete(
  call: Call,
  kind: Kind,
  id: string,
  watch: Watch,
  context: OracleContext,
): Generator<string> {
  const { calls, ledger } = context;
  const { wish } = watch;
  const { policy } = wish;
  const ofRun = calls.slice(watch.firstCall).filter((each) => each !== call);
  const lists = receivedEntries(ofRun, kind);
  const last = lists.at(-1);
  const people = receivedPeople(ofRun).at(-1);
  if (last === undefined || people === undefined) {
    yield 'the lists were not read before';
    return;
  }
  // An entry that is missing from the lists right before a delete is searched for in a second list, and counts as
  // deleted if that one lacks it too.
  const [before] = lists.length > 2 ? lists.slice(-2) : [];
  const shown = new Map([...(before?.entries ?? []), ...last.entries]);
  const name = shown.get(id);
  if (name === undefined) {
    yield 'the last list does not show it';
    return;
  }
  const desired = wishedOf(wish, kind) ?? [];
  const names = [...shown.values()].map(exactly);

  // Entries that the policy keeps.
  if (policy.delete === 'never') yield 'policy.delete is never';
  if (policy.protect.some((glob) => globMatches(glob, name))) yield 'it is protected';
  const isDesired = desired.some((each) => exactly(each.name) === exactly(name));
  const sameNames = names.filter((each) => each === exactly(name)).length;
  if (isDesired && (policy.duplicates !== 'remove-unused' || sameNames < 2)) yield 'its name is desired';
  if (desired.length === 0 && policy.maxDeletePercent < 100) yield 'the desired list is empty';
  const isFormerName = desired.some((each) => each.formerly?.some((one) => exactly(one) === exactly(name)));
  const lastPeople = receivedPeople(ofRun).slice(-2);
  const listsNobody = lastPeople.every(({ people: listed }) => listed.length === 0);
  if (listsNobody && policy.allowNoPeople === false && (policy.delete === 'unused' || isFormerName))
    yield 'no people were listed';
  if (!watch.acceptNoEvidence && !wereListsRead(calls.slice(0, watch.firstCall)))
    yield 'no earlier run had read the lists';
  if (policy.ownership === 'managed') {
    const isFormer = desired.some((each) => each.formerly?.some((one) => exactly(one) === exactly(name)));
    const isOurs = ledger.made.some((made) => made.kind === kind && made.id === id);
    if (!isOurs && !isFormer && !isDesired && !context.adopted.has(`${kind}:${id}`))
      yield 'it is not managed';
  }

  // People.
  const holders = new Set(holdersOf(kind, id, people.people));
  const isAllowed = wish.allowed.some((each) => each.kind === kind && exactly(each.name) === exactly(name));
  // A list of an earlier run showed people with it: also a person, or a field, that the lists lack now.
  const { good } = watch;
  const isRecent = good !== null && Date.now() - good.atMs < (policy.unusedForMs ?? 0) - MARGIN_MS;
  const lately = isRecent ? holdersOf(kind, id, good.people) : [];
  if (lately.length > 0 && policy.delete === 'unused' && !isAllowed)
    yield `${lately.join(', ')} had it lately`;
  const former = desired.find((each) => (each.formerly ?? []).some((one) => exactly(one) === exactly(name)));
  const isNear = desired.some((each) => loosely(each.name) === loosely(name));
  if (holders.size > 0) {
    const who = [...holders].join(', ');
    if (policy.delete === 'unused' && !isAllowed) yield `${who} have it`;
    if (former !== undefined && !isAllowed) yield `it is being renamed and ${who} have it`;
    if (isDesired) yield `it is a duplicate that ${who} have`;
    if (isNear && !isDesired && !isAllowed) yield `its name is near a desired one and ${who} have it`;
  }
  const operations = watch.plan?.operations ?? [];
  const place = operations.findIndex((each) => each.kind === kind && each.remoteId === id);
  const firstCreate = operations.findIndex((each) => each.action === 'create');
  const isEarly = firstCreate >= 0 && place < firstCreate;
  const makesWay = isEarly && loosely(former?.name ?? name) === loosely(name);
  const isDesiredNow = (wanted: string) => names.includes(exactly(wanted)) || hasEntryFor(wanted);
  if (former !== undefined && !makesWay && !isDesiredNow(former.name)) {
    yield 'it is being renamed and its new name does not exist';
  }

  // The age of the lists, and the order of operations.
  const lastCreateMs = Math.max(
    0,
    ...ofRun.filter(({ method }) => method === 'POST').map(({ sentAtMs }) => sentAtMs),
  );
  const refused = calls.slice(0, watch.firstCall).filter(({ answer }) => answer?.status === 409);
  const wasRefused = refused.some(
    (each) => each.method === 'POST' && each.kind === kind && loosely(each.name ?? '') === loosely(name),
  );
  const isUnused = holders.size === 0;
  if (isEarly && !(wasRefused ? isAllowed || isUnused : isAllowed && isUnused))
    yield `it is sent before the creates: allowed ${isAllowed}, unused ${isUnused}, refused ${wasRefused}`;
  for (const each of [last.call, people.call]) {
    if (!isEarly && each.sentAtMs < lastCreateMs)
      yield `the ${each.kind}s were not read again after the creates`;
    if (call.sentAtMs - each.sentAtMs > READ_AGAIN_MS + SLACK_MS)
      yield `the ${each.kind}s were read too long ago`;
  }
  if (!isEarly) {
    for (const { name: wanted } of operations.filter(
      (each) => each.action === 'create' && each.kind === kind,
    )) {
      const sent = ofRun.filter(
        (each) => each.method === 'POST' && each.kind === kind && each.name === wanted,
      );
      const isDone =
        sent.some(isConfirmed) ||
        receivedEntries(calls.slice(sent[0]?.seq ?? calls.length), kind).some(({ entries }) =>
          [...entries.values()].some((listedName) => loosely(listedName) === loosely(wanted)),
        );
      if (!isDone) yield `the create of “${wanted}” failed`;
    }
  }

  // Limits.
  const deletes = (from: readonly Call[]) =>
    new Set(from.filter(isDelete).map((each) => `${each.kind}:${each.remoteId}`));
  const inRun = deletes([...ofRun, call]);
  const lastDay = calls.filter(
    (each) => Date.now() - each.sentAtMs < DAY_MS && (each === call || happened(each, context)),
  );
  const ofDay = deletes(lastDay);
  if (ofDay.size > policy.maxDeletes)
    yield `it is the ${ofDay.size}th delete within a day, of at most ${policy.maxDeletes}`;
  const firstWrite = ofRun.find(({ method }) => method !== 'GET')?.seq ?? call.seq;
  const planned = lists.filter((each) => each.call.seq < firstWrite);
  const most = Math.max(0, ...planned.map(({ entries }) => entries.size));
  const ofKind = [...inRun].filter((each) => each.startsWith(`${kind}:`)).length;
  if (most >= 10 && ofKind * 100 > policy.maxDeletePercent * most) {
    yield `${ofKind} of ${most} are more than ${policy.maxDeletePercent} %`;
  }

  /** Whether the entry that was created for a desired name exists, whatever its name is and whatever the list shows. */
  function hasEntryFor(wanted: string): boolean {
    const isOurs = (id: string): boolean =>
      ledger.made.some(
        (made) => made.kind === kind && made.id === id && exactly(made.asked) === exactly(wanted),
      );
    return ledger.live().some((live) => live.kind === kind && isOurs(live.id));
  }
}

function isDelete({ method }: Call): boolean {
  return method === 'DELETE';
}

function happened(call: Call, { calls, ledger }: OracleContext): boolean {
  return isDelete(call) && ledger.hadEffect(call, calls);
}
