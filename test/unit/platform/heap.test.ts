import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { keepHeapSmall } from '../../../src/platform/heap.ts';

it('the flag that keeps the heap small exists in this version of Node.js, which would ignore an unknown one', () => {
  expect(execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })).toContain(
    '--heap-growing-percent',
  );
  expect(keepHeapSmall).not.toThrow();
});
