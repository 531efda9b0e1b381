// Which new entries are the results of creates whose answer was lost.
import { expect, it } from 'vitest';
import { type DoubtfulCreate, findCreated } from '../../../src/run/doubtful-operations.ts';
import type { Entry } from '../../../src/core/catalog.ts';
import { entry, wanted } from '../core/builders.ts';

function found(
  doubts: readonly Partial<DoubtfulCreate>[],
  list: readonly Entry[],
  desired: readonly string[] = [],
): (string | undefined)[] {
  const creates = doubts.map((doubt): DoubtfulCreate => ({
    kind: 'skill',
    name: 'New',
    isDue: true,
    isKnown: () => false,
    ...doubt,
  }));
  const lists = { skill: list, role: [entry('New', 'role')] };
  const created = findCreated(creates, lists, { skill: wanted(...desired), allowedDeletes: [] });
  return creates.map((doubt) => created.get(doubt)?.id);
}

const NEW = entry('New', '7');
const near = entry('new', '1');

it.each<
  [string, readonly Partial<DoubtfulCreate>[], readonly Entry[], readonly (string | undefined)[], string[]?]
>([
  ['has made the entry of its name', [{ isDue: false }], [entry('Other'), NEW], ['7']],
  ['has made no older entry', [{ isKnown: (key) => key === 'skill:7' }], [NEW], [undefined]],
  ['has made an entry of a near name once it is due', [{}], [near], ['1']],
  ['may still appear under its own name before it is due', [{ isDue: false }], [near], [undefined]],
  ['has not made an entry of a near name that is desired', [{}], [near], [undefined], ['New', 'new']],
  ['has made its exact name rather than a near one', [{}], [near, NEW], ['7']],
  ['has not made an entry of another name', [{}], [entry('Other')], [undefined]],
  ['shares its entry with no other create', [{}, {}], [NEW], ['7', undefined]],
  ['leaves the exact name of another create alone', [{ name: 'NEW' }, {}], [NEW], [undefined, '7']],
])('a doubtful create %s', (_, doubts, list, ids, desired = []) => {
  expect(found(doubts, list, desired)).toEqual(ids);
});
