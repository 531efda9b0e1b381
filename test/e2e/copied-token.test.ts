// Two accounts with one token whose first runs begin at the same moment, in processes that share only the store: an empty
// account has no id in its lists, so nothing but the token shows that it is the same account. One of them writes.
import { expect, test } from 'vitest';
import { EVERY_SECOND, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import type { Fault } from '../../src/sandbox/sandbox.ts';
import { scene, type Scene, TOKEN } from '../support/scene.ts';

/** More names than the daemon plans in its own process. */
const MANY = Array.from({ length: 2100 }, (_, number) => `Skill ${number}`);
const FEW = ['Go', 'Rust'];
const COPY = { env: { TOKEN_COPY: TOKEN } };

/** Slow lists, which do not show what another run does meanwhile. */
const SLOW: Fault = { match: { method: 'GET' }, times: 'always', do: { type: 'latency', ms: 1500 } };
const API = { timeout: '10s', settle: '11s' };

function fileOf(names: readonly string[]): string {
  return `mode: apply\nschedule: ${EVERY_SECOND}\nskills: [${names.join(', ')}]`;
}

/** The names of only one of the two files were created. */
function expectOneWriter(s: Scene, ...files: readonly (readonly string[])[]): void {
  const created = s.writes().map((write) => write.replace('POST ', ''));
  expect(created.length).toBeGreaterThan(0);
  expect(files.filter((names) => names.some((name) => created.includes(name)))).toHaveLength(1);
}

test('when two processes apply accounts with one token at the same moment, only one writes', async () => {
  const s = await scene({ resources: [], api: API, faults: [SLOW], file: fileOf(['Java']), isFresh: true });
  s.configure(fileOf(FEW), 'copy');
  const ended = await Promise.all(
    ['acme', 'copy'].map((name) =>
      s.run(['apply', '--yes', '--format', 'json', name], { ...COPY, asProcess: true }),
    ),
  );
  expectOneWriter(s, ['Java'], FEW);
  const failed = ended.flatMap(({ stdout }) => JSON.parse(stdout) as { errorCode: string | null }[]);
  expect(new Set(failed.map(({ errorCode }) => errorCode))).toEqual(new Set(['identity_mismatch', null]));
});

test('when a small and a large account of the daemon have one token, only one writes', async () => {
  const s = await scene({ resources: [], api: API, faults: [SLOW], service: WITH_TOKEN });
  s.configure(fileOf(FEW));
  s.configure(fileOf(MANY), 'copy');
  const daemon = await startDaemon(s, COPY);
  await s.until(
    'one is refused',
    () => daemon.runsEnded('acme', 'failed') + daemon.runsEnded('copy', 'failed') > 0,
  );
  await s.until('one writes', () => s.writes().length > 0);
  await daemon.stop();
  expectOneWriter(s, FEW, MANY);
  expect(s.rows("select distinct error_code from runs where status = 'failed'")).toEqual([
    { error_code: 'identity_mismatch' },
  ]);
});

test('when apply runs an account with the token of a large account of the daemon, only one writes', async () => {
  const s = await scene({ resources: [], api: API, faults: [SLOW], service: WITH_TOKEN });
  s.configure(fileOf(MANY));
  const daemon = await startDaemon(s, COPY);
  await s.until('the large account is read', () => s.sandbox.requests().length > 0);
  s.configure(fileOf(FEW), 'copy');
  const { stdout } = await s.run(['apply', '--yes', '--format', 'json', 'copy'], COPY);
  await s.until('the large account is written', () => s.writes().length > 0);
  await daemon.stop();
  expect(JSON.parse(stdout)).toMatchObject([{ account: 'copy', errorCode: 'identity_mismatch' }]);
  expectOneWriter(s, FEW, MANY);
});
