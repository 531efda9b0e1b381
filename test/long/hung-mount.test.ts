// Secrets on a file system that does not answer: the accounts that need them fail with the path, and nothing else is
// affected.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasStuckReads, readRegularFile } from '../../src/system/regular-file.ts';
import { resolveSecret } from '../../src/config/secrets.ts';
import { EVERY_SECOND, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { hungMount } from '../support/hung-mount.ts';
import { scene, TOKEN, tokenVariable } from '../support/scene.ts';
import { until } from '../support/workspace.ts';

describe('a file system that does not answer', () => {
  test('fails each of its reads at a deadline, and no other read', async (context) => {
    const folder = hungMount();
    if (folder === undefined) return context.skip();
    const good = mkdtempSync(path.join(tmpdir(), 'rolecall-good-'));
    onTestFinished(() => rmSync(good, { recursive: true, force: true }));
    writeFileSync(path.join(good, 'token'), 's3cr3t');
    const files = Array.from({ length: 6 }, (_, index) => path.join(folder, `token${index}`));
    const began = performance.now();
    const hung = files.map((file) =>
      resolveSecret({ file }, 'token').catch((error: unknown) => String(error)),
    );
    const others = Array.from({ length: 20 }, (_, index) => {
      writeFileSync(path.join(good, `${index}`), `t${index}`);
      return resolveSecret({ file: path.join(good, `${index}`) }, 'token');
    });
    expect(new Set(await Promise.all(hung))).toEqual(
      new Set(
        files.map(
          (file) =>
            `SecretError: token: the file ${file} could not be read within 5 s; check its file system`,
        ),
      ),
    );
    expect((await Promise.all(others)).map((secret) => secret.reveal())).toEqual(
      others.map((_, index) => `t${index}`),
    );
    expect(hasStuckReads()).toBe(true);
    // A file that is known to hang is not read again, and other files are still read.
    const known = performance.now();
    await expect(resolveSecret({ file: files[0] ?? '' }, 'token')).rejects.toThrow(
      'could not be read within 5 s',
    );
    expect((await resolveSecret({ file: path.join(good, 'token') }, 'token')).reveal()).toBe('s3cr3t');
    await expect(readRegularFile(path.join(good, 'none'), 100)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(performance.now() - known).toBeLessThan(2000);
    expect(performance.now() - began).toBeLessThan(20_000);
    // A link that leads there fails alone.
    symlinkSync(path.join(folder, 'linked'), path.join(good, 'link'));
    await expect(resolveSecret({ file: path.join(good, 'link') }, 'token')).rejects.toThrow('within 5 s');
    expect((await resolveSecret({ file: path.join(good, 'token') }, 'token')).reveal()).toBe('s3cr3t');
  }, 30_000);
});

test('a daemon runs its other account beside six whose secrets are on a hung mount, and ends', async (context) => {
  const folder = hungMount();
  if (folder === undefined) return context.skip();
  const s = await scene({
    file: 'mode: apply\nskills: [Go]',
    service: `defaults: { schedule: ${EVERY_SECOND}, jitter: 0s }\ndaemon: { shutdownGrace: 1s }\n${WITH_TOKEN}`,
  });
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) {
    const head = `baseUrl: ${s.sandbox.url}\ntoken: { file: ${folder}/${name} }\n`;
    s.write(`config/accounts/${name}.yaml`, `${head}skills: [Go]\n`);
  }
  const daemon = await startDaemon(s, { env: { [tokenVariable('acme')]: TOKEN } });
  await until('every hung account failed, and the other ran again after that', () => {
    const before = daemon.runsEnded('acme', 'converged');
    return names.every((name) => daemon.runsEnded(name, 'failed') > 0) && before > 2;
  });
  expect((await daemon.get('/healthz')).status).toBe(200);
  const began = performance.now();
  daemon.process.kill('SIGTERM');
  // An exit that waits for the hanging system calls would never happen.
  expect(await daemon.ended).toMatchObject({ signal: 'SIGKILL' });
  expect(daemon.output().stderr).toContain('"event":"stopped"');
  expect(performance.now() - began).toBeLessThan(10_000);
});
