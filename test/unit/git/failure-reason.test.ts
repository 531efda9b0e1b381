import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { runGit } from '../../../src/git/run-git.ts';
import { explainGitFailure } from '../../../src/git/failure-reason.ts';
import { until } from '../../support/workspace.ts';
import { workspace } from '../config/workspace.ts';

afterEach(() => vi.unstubAllEnvs());

const PLACE = {
  settings: { url: 'https://git.example.com/a.git', branch: 'main', path: 'config', intervalMs: 60_000 },
  folder: '/kept',
  scrub: (text: string) => text.replaceAll('s3cr3t', '[redacted]'),
};

function explained(stderr: string) {
  return explainGitFailure({ type: 'failed', status: 128, stderr }, PLACE);
}

describe('a failure of git', () => {
  test.each(
    Object.entries({
      "fatal: unable to access 'https://git.example.com/a.git/': Could not resolve host: git.example.com":
        'https://git.example.com/a.git cannot be reached; check the address, the DNS',
      "fatal: unable to access 'https://git.example.com/SSL.git/': Failed to connect to git.example.com port 443":
        'cannot be reached',
      'fatal: early EOF': 'cannot be reached',
      "fatal: unable to access 'x': SSL certificate problem: self-signed certificate in certificate chain":
        'the server and its certificate (GIT_SSL_CAINFO adds',
      "fatal: unable to access 'x': server certificate verification failed. CAfile: none": 'its certificate',
      "remote: HTTP Basic: Access denied\nfatal: Authentication failed for 'x'": 'rejected the credentials',
      "fatal: unable to access 'x': The requested URL returned error: 403": 'rejected the credentials',
      "remote: Repository not found.\nfatal: repository 'https://git.example.com/a.git/' not found":
        'there is no repository at https://git.example.com/a.git',
      "fatal: couldn't find remote ref refs/heads/main": 'https://git.example.com/a.git has no branch main',
      'Host key verification failed.\nfatal: Could not read from remote repository.': 'the ssh host key of',
      'Load key "/k": invalid format\ngit@host: Permission denied (publickey).':
        'a key has no passphrase, and mode 0600',
      'fatal: write error: No space left on device\nfatal: index-pack failed': 'the disk of /kept is full',
      'error: could not lock config file x: Read-only file system': 'git cannot use /kept',
      "fatal: cannot create directory at 'config': Permission denied": 'git cannot use /kept',
      "fatal: detected dubious ownership in repository at '/x'": 'check its owner',
      "fatal: transport 'http' not allowed": 'cannot be reached; check the address',
      'sh: 1: ssh: not found\nfatal: Could not read from remote repository.': 'ssh is not installed',
    }),
  )('is explained for %j', (stderr, sentence) => {
    expect(explained(stderr)).toEqual({ reason: expect.stringContaining(sentence), isKnown: true });
  });

  test.each([
    'fatal: not a git repository: .',
    'error: object file objects/ab/cd is empty\nfatal: loose object abcd (stored in x) is corrupt',
    'fatal: bad config line 1 in file ./config',
  ])('is unknown for %j, so that the repository is cloned again', (stderr) => {
    expect(explained(stderr).isKnown).toBe(false);
  });

  test('is reported with its last error line when it is unknown, short, without secrets and control characters', () => {
    expect(explained('hint: x\nfatal: the \u001b[31ms3cr3t\u0007 is out\nhint: y')).toEqual({
      reason: 'git failed: the  [31m[redacted]  is out',
      isKnown: false,
    });
    expect(explained('x'.repeat(5000)).reason).toHaveLength('git failed: '.length + 300);
    expect(explained('').reason).toBe('git failed: without a message');
  });

  test('is explained when git is missing, too slow or stopped', async () => {
    const folder = workspace({});
    vi.stubEnv('PATH', folder);
    const missing = await runGit({ folder, args: ['version'] });
    expect(missing.type === 'done' ? '' : explainGitFailure(missing, PLACE).reason).toBe(
      'git is not installed; install it',
    );
    const nowhere = await runGit({ folder: path.join(folder, 'x'), args: ['version'] });
    expect(nowhere.type === 'done' ? '' : explainGitFailure(nowhere, PLACE).reason).toBe(
      'git cannot be started (its folder no longer exists); check its installation and the folder /kept',
    );
    expect(explainGitFailure({ type: 'too_slow', timeoutMs: 120_000 }, PLACE).reason).toContain(
      'git took more than 120 s',
    );
    expect(explainGitFailure({ type: 'stopped' }, PLACE).reason).toBe('stopped');
  });
});

describe('a git that does not end', () => {
  function fakeGit(script: string): { folder: string; helper: () => number } {
    const folder = workspace({});
    writeFileSync(path.join(folder, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
    return { folder, helper: () => Number(readFileSync(path.join(folder, 'helper'), 'utf8')) };
  }

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
    expect(await runGit({ folder, args: [], timeoutMs: 300 })).toEqual({ type: 'too_slow', timeoutMs: 300 });
    await until('the helper has ended', () => !isAlive(helper()));
  });

  test('is killed when the program stops', async () => {
    const { folder, helper } = fakeGit('sleep 600 & echo $! > helper.new; mv helper.new helper; wait');
    const stop = new AbortController();
    const running = runGit({ folder, args: [], signal: stop.signal });
    await until('the helper runs', () => {
      try {
        return helper() > 0;
      } catch {
        return false;
      }
    });
    stop.abort();
    expect(await running).toEqual({ type: 'stopped' });
    await until('the helper has ended', () => !isAlive(helper()));
  });
});
