// Two accounts with one token whose first runs begin at the same moment, in processes that share only the store: an empty
// account has no id in its lists, so nothing but the token shows that it is the same account. One of them writes.
import { expect, test } from 'vitest';
import { EVERY_SECOND } from '../support/daemon.ts';
import type { Fault } from '../../src/sandbox/sandbox.ts';
import { scene, type Scene, TOKEN } from '../support/scene.ts';

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
