// A daemon loads its configuration again and again. Most files have not changed, and are not read.
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ConfigurationFiles } from '../../../src/config/configuration-files.ts';
import { filesOnDisk } from '../../../src/config/files-on-disk.ts';
import { type KeptLoad, type LoadTarget, isUpToDate, loadFiles } from '../../../src/config/load-files.ts';
import { ACCOUNT, SERVICE, workspace } from './workspace.ts';

const SKILLS = `${ACCOUNT}skills: [A]\n`;

/** Files whose times of change are as old as the test needs; counts the reads. */
function agedFiles(stampOf: (file: string, digest: string) => string | undefined) {
  const disk = filesOnDisk();
  const reads: string[] = [];
  const files: ConfigurationFiles = {
    ...disk,
    read(file) {
      reads.push(path.basename(file));
      const read = disk.read(file);
      return { ...read, stamp: stampOf(file, read.digest) };
    },
    stamp: (file) => stampOf(file, disk.read(file).digest),
  };
  return { files, reads };
}

function target(folder: string, files: ConfigurationFiles, everyFile = false): LoadTarget {
  return { file: path.join(folder, 'rolecall.yaml'), files, today: '2026-06-15', everyFile };
}

async function loadTwice(folder: string, { files, reads }: ReturnType<typeof agedFiles>, everyFile = false) {
  const before = await loadFiles(target(folder, files));
  reads.length = 0;
  const after = await loadFiles(target(folder, files, everyFile), before);
  return { before, after, reads };
}

describe('an account file', () => {
  const folder = (): string =>
    workspace({ 'rolecall.yaml': SERVICE, 'accounts/a.yaml': SKILLS, 'accounts/b.yaml': SKILLS });

  test('with the stamp of the last load is not read', async () => {
    const { before, after, reads } = await loadTwice(
      folder(),
      agedFiles((_, digest) => digest),
    );
    expect(reads).toEqual(['rolecall.yaml']);
    expect(after).toBe(before);
  });

  test('with the stamp of the last load is read if the load must read every file', async () => {
    const { reads } = await loadTwice(
      folder(),
      agedFiles((_, digest) => digest),
      true,
    );
    expect(reads).toEqual(['rolecall.yaml', 'a.yaml', 'b.yaml']);
  });

  test('without a stamp is read', async () => {
    const { reads } = await loadTwice(
      folder(),
      agedFiles((file) => (file.endsWith('a.yaml') ? undefined : 'same')),
    );
    expect(reads).toEqual(['rolecall.yaml', 'a.yaml']);
  });

  test('with a new stamp and the same content is read once', async () => {
    let stamp = '1';
    const aged = agedFiles(() => stamp);
    const place = folder();
    let kept: KeptLoad = await loadFiles(target(place, aged.files));
    stamp = '2';
    const counts: number[] = [];
    for (let load = 0; load < 2; load += 1) {
      aged.reads.length = 0;
      kept = await loadFiles(target(place, aged.files), kept);
      counts.push(aged.reads.length);
    }
    expect(counts).toEqual([3, 1]);
  });

  test('is read for each run of its account, whatever its stamp', async () => {
    const place = folder();
    const aged = agedFiles(() => 'same');
    const kept = await loadFiles(target(place, aged.files));
    aged.reads.length = 0;
    expect(isUpToDate(kept, 'a', target(place, aged.files))).toBe(true);
    expect(aged.reads).toEqual(['rolecall.yaml', 'a.yaml']);
  });
});

describe('a stamp', () => {
  test('is missing for a file that has just changed, since the next change may have the same time', () => {
    const file = path.join(workspace({ 'a.yaml': SKILLS }), 'a.yaml');
    expect(filesOnDisk().read(file).stamp).toBeUndefined();
    expect(filesOnDisk().stamp(file)).toBeDefined();
  });
});
