// What a run deleted, and the lines that create it again.
import { expect, it } from 'vitest';
import type { OperationRecord } from '../../../src/core/schemas.ts';
import { deletedEntries, type RestorationFacts, restoringLines } from '../../../src/core/restoration.ts';
import { entry, person, wanted } from './builders.ts';
import { runDetail } from './run-details.ts';

const DELETE: Partial<OperationRecord> = { action: 'delete', status: 'done', attempts: 1 };

function deleted(operations: readonly Partial<OperationRecord>[], facts: Partial<RestorationFacts> = {}) {
  const detail = runDetail(1, { operations: operations.map((each) => ({ ...DELETE, ...each })) });
  return deletedEntries({
    detail,
    people: [],
    later: null,
    desired: { skill: [], role: [], allowedDeletes: [] },
    ...facts,
  });
}

it('a restoration contains what the run deleted or may have deleted, not what was gone, held, failed or created', () => {
  const found = deleted([
    { name: 'Done', remoteId: '1' },
    { name: 'Gone', remoteId: '2', attempts: 0 },
    { name: 'Unknown', remoteId: '3', status: 'unknown' },
    { name: 'Sent', remoteId: '4', status: 'sent' },
    { name: 'Failed', remoteId: '5', status: 'failed' },
    { name: 'Held', remoteId: '6', status: 'held', attempts: 0 },
    { name: 'Created', remoteId: '7', action: 'create' },
  ]);
  expect(found.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['Done', 'deleted'],
    ['Unknown', 'unknown'],
    ['Sent', 'unknown'],
  ]);
});

it('a restoration names the people of the lists before the run, and of the plan where the lists are no longer stored', () => {
  const operations = [{ ...DELETE, seq: 1, name: 'Perl', remoteId: 's1' }];
  const planned = { action: 'delete', kind: 'skill', name: 'Perl', remoteId: 's1', usedBy: ['r9'] } as const;
  const detail = runDetail(1, { operations, plan: { operations: [planned] } });
  const facts = { detail, later: null, desired: null };
  const people = [person('r2', ['s1']), person('r1', ['s1']), person('r3', [])];
  expect(deletedEntries({ ...facts, people })[0]?.people).toEqual(['r1', 'r2', 'r9']);
  expect(deletedEntries({ ...facts, people: null })[0]?.people).toEqual(['r9']);
  expect(deletedEntries({ ...facts, detail: { ...detail, plan: null }, people: null })[0]?.people).toBeNull();
  expect(deletedEntries({ ...facts, detail: { ...detail, plan: null }, people: [] })[0]?.people).toEqual([]);
});

it('a restoration asks for each name once, quoted as YAML needs it, and leaves out what must not be pasted', () => {
  const found = deleted(
    [
      { name: 'Perl', remoteId: '1' },
      { name: 'Perl', remoteId: '2' },
      { name: 'C #', remoteId: '3' },
      { name: '1.0', remoteId: '4' },
      { name: ' lead', remoteId: '5' },
      { name: 'Named', remoteId: '6' },
      { name: 'Survived', remoteId: '7', status: 'unknown' },
      { kind: 'role', name: 'Dev', remoteId: '8' },
    ],
    {
      later: { skill: [entry('Survived', '7'), entry('Perl', 'new')], role: [] },
      // The file manages no roles: a list with this one alone would delete all others.
      desired: {
        skill: wanted('Named', { name: 'Rust', formerly: ['C #'] }),
        allowedDeletes: [{ kind: 'skill', name: '1.0', expires: '2999-12-31' }],
      },
    },
  );
  expect(restoringLines(found)).toEqual(['skills:', '  - Perl', '  - "C #"', '  - "1.0"']);
  expect(found.map(({ name, listed, inFile }) => [name, listed, inFile])).toEqual([
    ['Perl', 'other', 'none'],
    ['Perl', 'other', 'none'],
    ['C #', null, 'formerly'],
    ['1.0', null, 'allowed'],
    [' lead', null, 'none'],
    ['Named', null, 'desired'],
    ['Survived', 'same', 'none'],
    ['Dev', null, 'unmanaged'],
  ]);
  expect(found.find(({ name }) => name === ' lead')?.problem).toContain('white space');
});
