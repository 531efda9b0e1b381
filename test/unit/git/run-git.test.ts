import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { Checkout } from '../../../src/git/checkout.ts';
import { runGit } from '../../../src/git/run-git.ts';
import { until } from '../../support/workspace.ts';
import { workspace } from '../config/workspace.ts';

afterEach(() => vi.unstubAllEnvs());

/** A program `git`; returns its folder, and the process that the script has written to `helper`. */
function fakeGit(script: string): { folder: string; helper: () => number } {
  const folder = workspace({});
  writeFileSync(path.join(folder, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
  return { folder, helper: () => Number(readFileSync(path.join(folder, 'helper'), 'utf8')) };
}

describe('a failure of git', () => {
  test.each([
    [
      'ssh: \\033[31mgl-s3cr3t\\a is out\\nfatal: early EOF\\n',
      'git failed: ssh: [31m[redacted] is out fatal: early EOF; check https://git.example.com/a.git (branch main), `credentials`, the network and the disk of ',
    ],
    ['', 'git failed: without a message; check '],
    ['x'.repeat(5000), `git failed: …${'x'.repeat(400)}; check `],
  ])('is reported in git’s own words: one short line without secrets (%#)', async (said, reason) => {
    const { folder } = fakeGit(
      `case "$*" in *version*) echo git version 2.40.1;; *fetch*) printf '${said}' >&2; exit 128;; esac`,
    );
    const settings = {
      url: 'https://git.example.com/a.git',
      branch: 'main',
      path: 'config',
      intervalMs: 60_000,
    };
    const token = async () => new Secret('gl-s3cr3t');
    const refresh = await (await Checkout.open(settings, path.join(folder, 'kept'), token)).refresh();
    expect(refresh).toEqual({ type: 'failed', reason: expect.stringContaining(reason) });
  });

  test('is explained when git is missing, or its folder is', async () => {
    const folder = workspace({});
    vi.stubEnv('PATH', folder);
    await expect(runGit({ folder, args: ['version'] })).rejects.toThrow('git is not installed; install it');
    await expect(runGit({ folder: path.join(folder, 'x'), args: ['version'] })).rejects.toThrow(
      'git cannot be started (its folder no longer exists); check its installation and the folder',
    );
  });
});

describe('a git that does not end', () => {
  function isAlive(pid: number): boolean {
    try {
      process.kill(pid, 0);
      return !/^State:\s+Z/mu.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  }

  test('is killed at its time limit, together with its helpers', async () => {
    const { folder, helper } = fakeGit('sleep 600 & echo $! > helper; wait');
    await expect(runGit({ folder, args: [], timeoutMs: 300 })).rejects.toThrow('git took more than 0.3 s');
    await until('the helper has ended', () => !isAlive(helper()));
  });

  test('is killed when the program stops', async () => {
    const { folder, helper } = fakeGit('sleep 600 & echo $! > helper.new; mv helper.new helper; wait');
    const stop = new AbortController();
    const running = expect(runGit({ folder, args: [], signal: stop.signal })).rejects.toThrow('stopped');
    await until('the helper runs', () => {
      try {
        return helper() > 0;
      } catch {
        return false;
      }
    });
    stop.abort();
    await running;
    await until('the helper has ended', () => !isAlive(helper()));
  });
});
