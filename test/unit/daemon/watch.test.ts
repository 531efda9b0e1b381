// A change of the configuration's files is seen, however it is made.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWatch } from '../../../src/daemon/watch.ts';
import { until } from '../../support/workspace.ts';

const QUIET = () => undefined;
const LOG = { debug: QUIET, info: QUIET, warn: QUIET, error: QUIET };

interface Setting {
  readonly folder: string;
  readonly changes: () => number;
  /** Makes a change and resolves when it was seen. */
  readonly see: (change: () => void) => Promise<void>;
}

/** Watches the folder of `rolecall.yaml`, which the folder is filled with first. */
async function setUp(fill: (folder: string) => void): Promise<Setting> {
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-watch-'));
  fill(folder);
  let changes = 0;
  const watch = createWatch(() => (changes += 1), LOG);
  onTestFinished(async () => {
    await watch.close();
    rmSync(folder, { recursive: true, force: true });
  });
  watch.follow([join(folder, 'rolecall.yaml')]);
  await watch.ready();
  return {
    folder,
    changes: () => changes,
    async see(change) {
      const before = changes;
      change();
      await until('the change is seen', () => changes > before);
    },
  };
}

function plainFiles(folder: string): void {
  mkdirSync(join(folder, 'accounts'));
  writeFileSync(join(folder, 'rolecall.yaml'), 'a: 1\n');
  writeFileSync(join(folder, 'accounts/acme.yaml'), 'a: 1\n');
}

describe('the watch of the configuration', () => {
  it('notices an edit, a new file, a deleted file and a replaced file', async () => {
    const { folder, see } = await setUp(plainFiles);
    await see(() => writeFileSync(join(folder, 'rolecall.yaml'), 'a: 2\n'));
    await see(() => writeFileSync(join(folder, 'accounts/acme.yaml'), 'a: 2\n'));
    await see(() => writeFileSync(join(folder, 'accounts/beta.yaml'), 'a: 1\n'));
    await see(() => rmSync(join(folder, 'accounts/acme.yaml')));
    writeFileSync(join(folder, '..new'), 'a: 3\n');
    await see(() => renameSync(join(folder, '..new'), join(folder, 'rolecall.yaml')));
  });

  it('notices the symbolic links that Kubernetes replaces to update a volume', async () => {
    const { folder, see } = await setUp((made) => {
      mkdirSync(join(made, '..2026_01'));
      writeFileSync(join(made, '..2026_01/rolecall.yaml'), 'a: 1\n');
      symlinkSync('..2026_01', join(made, '..data'));
      symlinkSync('..data/rolecall.yaml', join(made, 'rolecall.yaml'));
    });
    for (const version of ['..2026_02', '..2026_03']) {
      await see(() => {
        mkdirSync(join(folder, version));
        writeFileSync(join(folder, version, 'rolecall.yaml'), `a: ${version}\n`);
        symlinkSync(version, join(folder, '..data_tmp'));
        renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
      });
    }
  });

  it('reports many writes within a short time once', async () => {
    const { folder, changes, see } = await setUp(plainFiles);
    await see(() => {
      for (let n = 0; n < 50; n += 1) writeFileSync(join(folder, `accounts/a${n}.yaml`), 'a: 1\n');
    });
    expect(changes()).toBe(1);
  });
});
