// Judges each create and delete at the moment when it reaches the service, by the contract's words alone and by what
// the program had been told until then. Nothing here knows how the program decides.
import type { Kind } from '../../../src/core/catalog.ts';
import type { Plan } from '../../../src/core/plan.ts';
import type { Call } from '../traffic.ts';
import { answeredJson } from '../traffic.ts';
import type { ToldPerson } from './beliefs.ts';
import { holdersOf, toldEntries, toldPeople } from './beliefs.ts';
import type { Ledger } from './ledger.ts';
import { isConfirmed, isDoubtful } from './ledger.ts';
import { exactly, globMatches, loosely } from './names.ts';
import type { Wish, WishedEntry } from './script.ts';
import { LIMITS, REMOTE_ID } from './world.ts';

const DAY_MS = 86_400_000;
const READ_AGAIN_MS = 60_000;
/** Both ends look at the clock at slightly different moments. */
const SLACK_MS = 50;

/** A run as the oracle sees it while it lasts. */
export interface Watch {
  readonly number: number;
  readonly mode: 'plan' | 'approve' | 'apply';
  readonly wish: Wish;
  /** `seq` of the first call of the run. */
  readonly firstCall: number;
  /** The one plan that the operator said yes to and that was not used up, when the run began. */
  readonly approval: { readonly digest: string; readonly givenAtMs: number } | null;
  readonly acceptNoHistory: boolean;
  /** What the last run told for sure about people and entries; null when its lists could not be trusted. */
  readonly good: GoodLists | null;
  runId: string | null;
  plan: Plan | null;
  stoppedAtMs: number | null;
}

export interface GoodLists {
  readonly atMs: number;
  readonly people: readonly ToldPerson[];
  readonly entries: Readonly<Record<Kind, ReadonlySet<string>>>;
}

export interface Bench {
  readonly calls: readonly Call[];
  readonly ledger: Ledger;
  readonly isSent: (runId: string, kind: Kind, action: 'create' | 'delete', what: string) => boolean;
  /** Entries that an applied run's file named, as `kind:id`. */
  readonly adopted: ReadonlySet<string>;
}

export function wishedOf(wish: Wish, kind: Kind): readonly WishedEntry[] | undefined {
  return kind === 'skill' ? wish.skills : wish.roles;
}

/** What is wrong with a request that has just reached the service; empty when nothing is. */
export function judgeArrival(call: Call, watch: Watch, bench: Bench): string[] {
  if (call.method === 'GET' || call.kind === 'resource') {
    return call.method === 'GET' ? [] : [`a ${call.method} of a person was sent`];
  }
  const problems = [...judgeWriting(call, watch, bench)];
  problems.push(
    ...(call.method === 'POST'
      ? judgeCreate(call, call.kind, call.name ?? '', watch, bench)
      : judgeDelete(call, call.kind, call.remoteId ?? '', watch, bench)),
  );
  const what = call.method === 'POST' ? `create of “${call.name ?? ''}”` : `delete of ${call.remoteId ?? ''}`;
  return problems.map((problem) => `${call.kind}: ${what}: ${problem}`);
}

/** What holds for every write: a mode that may write, a committed row, an approved plan, and no request to stop. */
function* judgeWriting(call: Call, watch: Watch, bench: Bench): Generator<string> {
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
  if (!bench.isSent(runId, call.kind, action, what)) yield 'no row of the journal said `sent` before';
  if (watch.stoppedAtMs !== null && call.sentAtMs > watch.stoppedAtMs) yield 'it was begun after a stop';
  // An answer is read within the turn of the event loop after the one in which it came.
  const stranger = bench.calls
    .slice(watch.firstCall, call.seq)
    .find((each) => (each.endedTurn ?? Infinity) + 1 < call.sentTurn && strangersIn(each));
  if (stranger !== undefined)
    yield `an answer before it (${stranger.method} ${stranger.kind}) was another account's`;
  if (mode === 'approve') {
    const { approval } = watch;
    if (approval?.digest !== plan.digest) yield 'nobody approved this plan';
    else if (Date.now() - approval.givenAtMs > DAY_MS) yield 'its approval was too old';
  }
}

/** Whether anything that a whole answer of JSON holds carries another account's id. */
export function strangersIn(call: Call): boolean {
  const body = answeredJson(call);
  return [body].flat().some((each: unknown) => {
    if (typeof each !== 'object' || each === null || !('accountId' in each)) return false;
    return each.accountId !== REMOTE_ID;
  });
}

function* judgeCreate(call: Call, kind: Kind, name: string, watch: Watch, bench: Bench): Generator<string> {
  const { calls, ledger } = bench;
  if (!wishedOf(watch.wish, kind)?.some((each) => exactly(each.name) === exactly(name))) {
    yield 'nobody desires it';
  }
  const lists = toldEntries(calls.slice(watch.firstCall), kind);
  const last = lists.at(-1);
  if (last === undefined) {
    yield 'no list was read before';
    return;
  }
  // An entry that the service made of another desired name is that one's. What was deleted may be listed for a while, and
  // counts as gone for as long, even where the answer to its delete was a lie.
  const wasDeleted = (id: string): boolean =>
    calls.some(
      (each) =>
        each.method === 'DELETE' &&
        each.remoteId === id &&
        (each.answer?.status ?? 500) < 300 &&
        call.sentAtMs - (each.endedAtMs ?? 0) < LIMITS.stalenessMs + SLACK_MS,
    );
  const live = new Set(
    ledger.live().flatMap((each) => (each.kind === kind && !wasDeleted(each.id) ? [each.id] : [])),
  );
  const isOthers = (id: string): boolean =>
    ledger.made.some((made) => made.kind === kind && made.id === id && exactly(made.asked) !== exactly(name));
  if (
    [...last.entries].some(([id, told]) => exactly(told) === exactly(name) && live.has(id) && !isOthers(id))
  )
    yield 'the last list shows it';

  const earlier = calls.filter(
    (each) => each !== call && each.method === 'POST' && each.kind === kind && each.name === name,
  );
  for (const before of earlier) {
    if (before.endedAtMs === null) {
      yield 'the same create is still under way';
    } else if (isDoubtful(before) && before.arrivedAtMs !== null) {
      // Whoever saw it in a list since knows what came of it.
      const seen = toldEntries(calls.slice(before.seq), kind).some(({ entries }) =>
        [...entries.values()].some((told) => loosely(told) === loosely(name)),
      );
      const dueMs = before.endedAtMs + LIMITS.settleMs - SLACK_MS;
      if (!seen && call.sentAtMs < dueMs)
        yield 'an earlier one may have happened, and its settle has not passed';
      if (!seen && last.call.sentAtMs < dueMs) yield 'no list was read after the settle of an earlier one';
    }
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
  for (const twin of ledger.live()) {
    if (twin.kind !== kind) continue;
    const made = ledger.made.find((each) => each.kind === kind && each.id === twin.id);
    if (exactly(made?.asked ?? twin.name) !== exactly(name)) continue;
    if (watch.good?.entries[kind].has(twin.id) === true && !last.entries.has(twin.id)) {
      const without = lists.filter(({ entries }) => !entries.has(twin.id));
      if (without.length < 2) yield `only one list lacked ${twin.id}, which is there and was seen before`;
    }
    const confirmed = earlier.filter((each) => isConfirmed(each) && confirmedId(each) === twin.id);
    const wasShown = toldEntries(calls, kind).some(({ entries }) => entries.has(twin.id));
    for (const { endedAtMs } of wasShown ? [] : confirmed) {
      if (call.sentAtMs - (endedAtMs ?? 0) < LIMITS.stalenessMs - SLACK_MS) {
        yield `its create was confirmed (${twin.id}) and no list needs to show it yet`;
      }
    }
  }
}

/** Whether these calls hold a readable list of everything. */
function wereListsRead(calls: readonly Call[]): boolean {
  const entries = [toldEntries(calls, 'skill'), toldEntries(calls, 'role')];
  return toldPeople(calls).length > 0 && entries.every((lists) => lists.length > 0);
}

function confirmedId(call: Call): string {
  const body: unknown = JSON.parse(call.answer?.text ?? 'null');
  return typeof body === 'object' && body !== null && '_id' in body ? String(body._id) : '';
}

function* judgeDelete(call: Call, kind: Kind, id: string, watch: Watch, bench: Bench): Generator<string> {
  const { calls, ledger } = bench;
  const { wish } = watch;
  const { policy } = wish;
  const ofRun = calls.slice(watch.firstCall).filter((each) => each !== call);
  const lists = toldEntries(ofRun, kind);
  const last = lists.at(-1);
  const people = toldPeople(ofRun).at(-1);
  if (last === undefined || people === undefined) {
    yield 'the lists were not read before';
    return;
  }
  // What is missing from the lists that are read right before a delete is looked for once more, and gone when it is missing
  // twice.
  const [before] = lists.length > 2 ? lists.slice(-2) : [];
  const shown = new Map([...(before?.entries ?? []), ...last.entries]);
  const name = shown.get(id);
  if (name === undefined) {
    yield 'the last list does not show it';
    return;
  }
  const desired = wishedOf(wish, kind) ?? [];
  const names = [...shown.values()].map(exactly);

  // What standing policy keeps.
  if (policy.delete === 'never') yield 'policy.delete is never';
  if (policy.protect.some((glob) => globMatches(glob, name))) yield 'it is protected';
  const isDesired = desired.some((each) => exactly(each.name) === exactly(name));
  const twins = names.filter((each) => each === exactly(name)).length;
  if (isDesired && (policy.duplicates !== 'remove-unused' || twins < 2)) yield 'its name is desired';
  if (desired.length === 0 && !policy.allowEmpty) yield 'the desired list is empty';
  const isFormerName = desired.some((each) => each.formerly?.some((one) => exactly(one) === exactly(name)));
  const lastPeople = toldPeople(ofRun).slice(-2);
  const listsNobody = lastPeople.every(({ people: listed }) => listed.length === 0);
  if (listsNobody && policy.allowNoPeople === false && (policy.delete === 'unused' || isFormerName))
    yield 'no people were listed';
  if (!watch.acceptNoHistory && !wereListsRead(calls.slice(0, watch.firstCall)))
    yield 'no earlier run had read the lists';
  if (policy.ownership === 'managed') {
    const isFormer = desired.some((each) => each.formerly?.some((one) => exactly(one) === exactly(name)));
    const isOurs = ledger.made.some((made) => made.kind === kind && made.id === id);
    if (!isOurs && !isFormer && !isDesired && !bench.adopted.has(`${kind}:${id}`)) yield 'it is not managed';
  }

  // People.
  const holders = new Set(holdersOf(kind, id, people.people));
  const isApproved = wish.approved.some((each) => each.kind === kind && exactly(each.name) === exactly(name));
  // Who is named in the plan of an approved delete has been judged; who goes missing afterwards changes nothing.
  const asPlanned = watch.plan?.operations.find((each) => each.kind === kind && each.remoteId === id);
  const judged = new Set(isApproved ? asPlanned?.usedBy : []);
  const listed = new Map(people.people.map((person) => [person.id, person]));
  const saysNothing = (person: ToldPerson | undefined): boolean =>
    (kind === 'skill' ? person?.skillsIds : person?.roleId) === undefined;
  for (const holder of watch.good === null ? [] : holdersOf(kind, id, watch.good.people)) {
    // Who was listed without it in the course of the run had lost it before they went missing.
    const lastTold = toldPeople(ofRun)
      .flatMap(({ people: told }) => told.filter((person) => person.id === holder && !saysNothing(person)))
      .at(-1);
    const gaveUp = lastTold !== undefined && holdersOf(kind, id, [lastTold]).length === 0;
    const isMissing = saysNothing(listed.get(holder)) && !gaveUp;
    if (isMissing && !judged.has(holder) && Date.now() - (watch.good?.atMs ?? 0) < DAY_MS)
      holders.add(`${holder} (missing)`);
  }
  const former = desired.find((each) => (each.formerly ?? []).some((one) => exactly(one) === exactly(name)));
  const isNear = desired.some((each) => loosely(each.name) === loosely(name));
  if (holders.size > 0) {
    const who = [...holders].join(', ');
    const isMissing = [...holders].some((each) => each.endsWith('(missing)'));
    if (isMissing && (policy.delete !== 'always' || former !== undefined || isNear)) yield `${who} had it`;
    if (policy.delete === 'unused' && !isApproved) yield `${who} have it`;
    if (former !== undefined && !isApproved) yield `it is being renamed and ${who} have it`;
    if (isDesired) yield `it is a duplicate that ${who} have`;
    if (isNear && !isDesired && !isApproved) yield `its name is near a desired one and ${who} have it`;
  }
  if (former !== undefined && !names.includes(exactly(former.name)) && !isAskedEntry(former.name)) {
    yield 'it is being renamed and its new name is not there';
  }

  // How fresh the lists are, and what came before.
  const lastCreateMs = Math.max(
    0,
    ...ofRun.filter(({ method }) => method === 'POST').map(({ sentAtMs }) => sentAtMs),
  );
  const operations = watch.plan?.operations ?? [];
  const place = operations.findIndex((each) => each.kind === kind && each.remoteId === id);
  const firstCreate = operations.findIndex((each) => each.action === 'create');
  const isEarly = firstCreate >= 0 && place < firstCreate;
  if (isEarly && !isApproved) yield 'it goes before the creates and nobody approved it';
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
        toldEntries(calls.slice(sent[0]?.seq ?? calls.length), kind).some(({ entries }) =>
          [...entries.values()].some((told) => loosely(told) === loosely(wanted)),
        );
      if (!isDone) yield `the create of “${wanted}” failed`;
    }
  }

  // Limits.
  const deletes = (from: readonly Call[]) =>
    new Set(from.filter(isDelete).map((each) => `${each.kind}:${each.remoteId}`));
  const inRun = deletes([...ofRun, call]);
  if (inRun.size > policy.maxDeletes)
    yield `it is the ${inRun.size}th delete of at most ${policy.maxDeletes}`;
  const lastDay = calls.filter(
    (each) => Date.now() - each.sentAtMs < DAY_MS && (each === call || happened(each, bench)),
  );
  const ofDay = deletes(lastDay);
  if (ofDay.size > policy.maxDeletesPerDay)
    yield `it is the ${ofDay.size}th of ${policy.maxDeletesPerDay} a day`;
  const firstWrite = ofRun.find(({ method }) => method !== 'GET')?.seq ?? call.seq;
  const planned = lists.filter((each) => each.call.seq < firstWrite);
  const most = Math.max(0, ...planned.map(({ entries }) => entries.size));
  const ofKind = [...inRun].filter((each) => each.startsWith(`${kind}:`)).length;
  if (most >= 10 && ofKind * 100 > policy.maxDeletePercent * most) {
    yield `${ofKind} of ${most} are more than ${policy.maxDeletePercent} %`;
  }

  /** Whether the entry that was made for a desired name is there, whatever the service calls it and the list shows. */
  function isAskedEntry(wanted: string): boolean {
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

function happened(call: Call, { calls, ledger }: Bench): boolean {
  return isDelete(call) && ledger.hadEffect(call, calls);
}
