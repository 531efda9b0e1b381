// The files of `init`: one that exists by now is kept, and then no other file is left behind.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeNewFiles } from '../../../src/cli/first-files.ts';
import { makeFolder } from '../../support/folder.ts';

test('a file that appeared meanwhile is not replaced, and the files written before it are removed', async () => {
  const folder = makeFolder();
  const [first, second] = [join(folder, 'config/rolecall.yaml'), join(folder, 'acme.yaml')];
  writeFileSync(second, 'mine');
  const texts = new Map([
    [first, 'new'],
    [second, 'new'],
  ]);
  await expect(writeNewFiles(texts)).rejects.toThrow('nothing was written');
  expect([existsSync(first), readFileSync(second, 'utf8')]).toEqual([false, 'mine']);
});
