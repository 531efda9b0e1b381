// A change of the configuration files is noticed, however it is made.
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
  /** Makes a change and resolves when it is noticed. */
  readonly expectNoticed: (change: () => void) => Promise<void>;
}

/** Watches the folder of `rolecall.yaml` after `fill` has created its files. */
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
    async expectNoticed(change) {
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
    const { folder, expectNoticed } = await setUp(plainFiles);
    await expectNoticed(() => writeFileSync(join(folder, 'rolecall.yaml'), 'a: 2\n'));
    await expectNoticed(() => writeFileSync(join(folder, 'accounts/acme.yaml'), 'a: 2\n'));
    await expectNoticed(() => writeFileSync(join(folder, 'accounts/beta.yaml'), 'a: 1\n'));
    await expectNoticed(() => rmSync(join(folder, 'accounts/acme.yaml')));
    writeFileSync(join(folder, '..new'), 'a: 3\n');
    await expectNoticed(() => renameSync(join(folder, '..new'), join(folder, 'rolecall.yaml')));
  });

  it('notices the symbolic links that Kubernetes replaces to update a volume', async () => {
    const { folder, expectNoticed } = await setUp((made) => {
      mkdirSync(join(made, '..2026_01'));
      writeFileSync(join(made, '..2026_01/rolecall.yaml'), 'a: 1\n');
      symlinkSync('..2026_01', join(made, '..data'));
      symlinkSync('..data/rolecall.yaml', join(made, 'rolecall.yaml'));
    });
    for (const version of ['..2026_02', '..2026_03']) {
      await expectNoticed(() => {
        mkdirSync(join(folder, version));
        writeFileSync(join(folder, version, 'rolecall.yaml'), `a: ${version}\n`);
        symlinkSync(version, join(folder, '..data_tmp'));
        renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
      });
    }
  });

  it('reports many writes within a short time once', async () => {
    const { folder, changes, expectNoticed } = await setUp(plainFiles);
    await expectNoticed(() => {
      for (let n = 0; n < 50; n += 1) writeFileSync(join(folder, `accounts/a${n}.yaml`), 'a: 1\n');
    });
    expect(changes()).toBe(1);
  });
});
