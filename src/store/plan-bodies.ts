// The bodies of plans: lines of JSON, compressed with gzip, with their digest as the key. A plan may hold 20,000 entries of
// 50,000 people, so it is written and read in pieces between which other work runs, and contains each person's id once.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { HeldChange, Operation, Plan } from '../core/plan.ts';
import { HELD_PART } from '../core/ports/journal-reader.ts';
import type { Database } from './tables.ts';

/** Converting this many changes takes a few milliseconds. Each line of held changes is a part that can be read alone. */
const CHANGES_A_LINE = HELD_PART;

/** `at`: its place in the plan. */
type RankedChange = HeldChange & { readonly at: number };
type Change = Operation | RankedChange;
type ChangeList = 'operations' | 'held';

/** A change whose `usedBy` is the positions of the ids in the list of people. */
type Stored<C extends Change> = Omit<C, 'usedBy'> & { readonly usedBy?: readonly number[] | undefined };

/** The first line has everything but the changes; the last one has the ids of people. */
type Head = Omit<Plan, ChangeList>;
type ChangesLine =
  readonly ['operations', readonly Stored<Operation>[]] | readonly ['held', readonly Stored<RankedChange>[]];

export interface PlanBody {
  readonly digest: string;
  readonly lines: string;
}

/** The body of a plan without its time: runs that change nothing repeat the same plan, which is stored once. */
export function planBody({ operations, held, ...head }: Plan): PlanBody {
  const hash = createHash('sha256');
  const lines: string[] = [];
  const add = (line: unknown): void => {
    const text = `${JSON.stringify(line)}\n`;
    hash.update(text);
    lines.push(text);
  };
  const people = new Map<string, number>();
  const stored = (change: Change): Stored<Change> => ({
    ...change,
    usedBy: change.usedBy?.map((id) => positionIn(people, id)),
  });
  add({ ...head, createdAt: '' } satisfies Head);
  // What most people have comes first, so that the first part has it.
  const ranked = held
    .map((change, at) => ({ ...change, at }))
    .sort((a, b) => b.usedBy.length - a.usedBy.length);
  for (const [list, changes] of Object.entries({ operations, held: ranked })) {
    for (let at = 0; at < changes.length; at += CHANGES_A_LINE) {
      add([list, changes.slice(at, at + CHANGES_A_LINE).map(stored)]);
    }
  }
  add([...people.keys()]);
  return { digest: `sha256:${hash.digest('hex')}`, lines: lines.join('') };
}

function positionIn(people: Map<string, number>, id: string): number {
  const known = people.get(id);
  if (known !== undefined) return known;
  people.set(id, people.size);
  return people.size - 1;
}

/** The plan of a run, whose `createdAt` is empty; null when none was made. `heldPart`: as in `JournalReader.run`. */
export async function readPlan(db: Database, digest: string | null, heldPart?: number): Promise<Plan | null> {
  if (digest === null) return null;
  const bodies = db.selectFrom('plan_bodies').select('body').where('digest', '=', digest);
  const row = await bodies.executeTakeFirst();
  return row === undefined ? null : planOf(gunzipSync(row.body), heldPart);
}

function planOf(body: Buffer, heldPart: number | undefined): Plan {
  const lines = body.toString('utf8').trimEnd().split('\n');
  // Only planBody writes the lines, so their types are known.
  const head = JSON.parse(lines.shift() ?? '') as Head;
  const people = JSON.parse(lines.pop() ?? '') as readonly string[];
  const plan = { ...head, operations: [] as Operation[], held: [] as RankedChange[] };
  for (const line of heldPart === undefined ? lines : linesOfPart(lines, heldPart)) {
    const [list, changes] = JSON.parse(line) as ChangesLine;
    if (list === 'operations') plan.operations.push(...changes.map((change) => named(change, people)));
    else plan.held.push(...changes.map((change) => named(change, people)));
  }
  if (heldPart === undefined) plan.held.sort((a, b) => a.at - b.at);
  return { ...plan, held: plan.held.map(({ at: _at, ...change }) => change) };
}

/** All lines of operations, and one of held changes. */
function linesOfPart(lines: readonly string[], heldPart: number): readonly string[] {
  const isHeld = (line: string): boolean => line.startsWith('["held"');
  const held = lines.filter(isHeld);
  const part = held[Math.min(heldPart, held.length) - 1];
  return [...lines.filter((line) => !isHeld(line)), ...(part === undefined ? [] : [part])];
}

function named<C extends Change>(change: Stored<C>, people: readonly string[]): C {
  const usedBy = change.usedBy?.map((at) => people[at] ?? '');
  // Only `usedBy` differs; a change without people has no such field.
  return (usedBy === undefined ? change : { ...change, usedBy }) as unknown as C;
}
