// A mount whose server never answers, like a network disk whose host is down.
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** The folder of the mount; undefined where mounting is not permitted. */
export function hungMount(): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync('/dev/fuse')) return undefined;
  const outer = mkdtempSync(join(tmpdir(), 'rolecall-hung-'));
  const folder = join(outer, 'mount');
  mkdirSync(folder);
  const server = openSync('/dev/fuse', 'r+');
  const { status } = spawnSync(
    'mount',
    ['-i', '-t', 'fuse', '-o', 'fd=3,rootmode=40000,user_id=0,group_id=0', 'hung', folder],
    { stdio: ['ignore', 'ignore', 'ignore', server] },
  );
  onTestFinished(() => {
    // Closing ends every call that waits for an answer.
    closeSync(server);
    spawnSync('umount', ['-l', folder]);
    rmdirSync(folder);
    rmdirSync(outer);
  });
  return status === 0 ? folder : undefined;
}
