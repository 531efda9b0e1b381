// An apply that waited for another run must not undo newer changes with what it read before.
import { expect, test } from 'vitest';
import { scene } from '../support/scene.ts';

test('an apply that waited for the lock applies the current content of the file', async () => {
  const s = await scene({ file: 'skills: [Go]', api: { timeout: '60s', settle: '61s' } });
  await s.apply();
  s.sandbox.setFaults([{ match: { method: 'POST' }, do: { type: 'latency', ms: 1000 } }]);
  s.sandbox.clearRequests();
  s.configure('skills: [Go, Nim]');
  const first = s.start(['apply', '--yes']);
  await s.until('it writes', () => s.writes().length > 0);
  first.process.kill('SIGSTOP');
  const second = s.start(['apply', '--yes']);
  await s.until('the other one waits', () => second.output().stderr.includes('waiting for the lock'));
  s.configure('skills: [Go, Nim, Zig]');
  first.process.kill('SIGCONT');
  expect((await first.ended).status).toBe(0);
  expect((await second.ended).status).toBe(0);
  expect(s.names().skills).toEqual(['Go', 'Nim', 'Zig']);
});
