// The digest of a plan.
import { describe, expect, it } from 'vitest';
import { type Operation, planDigest } from '../../../src/core/plan.ts';
import { sha256 } from './builders.ts';

const CREATE: Operation = { action: 'create', kind: 'skill', name: 'Go' };
const DELETE: Operation = {
  action: 'delete',
  kind: 'skill',
  name: 'Perl',
  remoteId: 's1',
  usedBy: ['p1', 'p2'],
};

function digest(operations: readonly Operation[], remoteAccountId: string | null = '42'): string {
  return planDigest(remoteAccountId, operations, sha256);
}

describe('the digest of a plan', () => {
  it('is never changed by a new version, because approvals and saved plans contain it', () => {
    expect(digest([CREATE, DELETE])).toBe(
      `sha256:${sha256('["42",[["create","skill","Go",null,null],["delete","skill","Perl","s1",["p1","p2"]]]]')}`,
    );
    expect(digest([], null)).toBe(`sha256:${sha256('[null,[]]')}`);
  });

  it.each<[string, Operation]>([
    ['the action', { ...DELETE, action: 'create' }],
    ['the kind', { ...DELETE, kind: 'role' }],
    ['the name', { ...DELETE, name: 'Perl 5' }],
    ['the id', { ...DELETE, remoteId: 's2' }],
    ['who has it', { ...DELETE, usedBy: ['p1'] }],
    ['that nobody has it', { ...DELETE, usedBy: [] }],
  ])('differs when an operation differs in %s', (_, changed) => {
    expect(digest([CREATE, changed])).not.toBe(digest([CREATE, DELETE]));
  });

  it('differs for another account, another order and another number of operations', () => {
    const digests = [
      digest([CREATE, DELETE]),
      digest([DELETE, CREATE]),
      digest([CREATE]),
      digest([CREATE, DELETE], '43'),
      digest([CREATE, DELETE], null),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('does not depend on the reason, which may be reworded', () => {
    expect(digest([{ ...DELETE, reason: 'renamed to “Raku”' }])).toBe(digest([DELETE]));
  });
});
