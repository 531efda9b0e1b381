// An installation whose SQLite driver is missing, as npm leaves it when an optional package cannot be compiled.
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeFolder } from '../support/folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

function installWithoutDriver(): string {
  const folder = makeFolder();
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  return folder;
}

it('an installation without a SQLite driver reports what to install and starts nothing', () => {
  const folder = installWithoutDriver();
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'dist/main.js'), 'sandbox', '--port', '0'],
    { encoding: 'utf8', timeout: 100_000 },
  );
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^error: the SQLite driver for Node\.js \d+\.\d+\.\d+ cannot be loaded: .*`npm ci`.*\n$/,
  );
});
