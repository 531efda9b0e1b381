// The fields of JSON that other programs rely on.
import { expect, test } from 'vitest';
import { accountStatusSchema, restorationSchema, snapshotSchema } from '../../../src/core/command-schemas.ts';
import { publishedFields } from '../../../src/report/render.tsx';

test('JSON contains the published fields alone, in their order, also in what it contains', () => {
  const lists = [{ entries: 2, column: 1, kind: 'skill', digest: 'sha256:1' }];
  const snapshot = { column: 1, lists, id: 7 };
  expect(JSON.stringify(publishedFields(snapshotSchema, snapshot))).toBe(
    '{"schemaVersion":1,"id":7,"lists":[{"kind":"skill","entries":2,"digest":"sha256:1"}]}',
  );
  const status = { lastRun: { id: 'r', column: 1 }, pause: null, drift: { create: 1, column: 1 } };
  expect(publishedFields(accountStatusSchema, status)).toEqual({
    schemaVersion: 1,
    drift: { create: 1 },
    pause: null,
    lastRun: { schemaVersion: 1, id: 'r' },
  });
  const entries = [{ name: 'A', earlier: { people: ['p1'], until: 'then', column: 1 }, column: 1 }];
  expect(publishedFields(restorationSchema, { entries })).toEqual({
    schemaVersion: 1,
    entries: [{ name: 'A', earlier: { people: ['p1'], until: 'then' } }],
  });
});
