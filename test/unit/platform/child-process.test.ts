// Other processes of this program: their messages, and the reasons of their ends.
import { describe, expect, it } from 'vitest';
import { type ChildOptions, startChild } from '../../../src/platform/child-process.ts';

const WAITS = 'process.on("message", () => undefined);';

function start(program: string, options: Partial<ChildOptions<unknown>> = {}) {
  const messages: unknown[] = [];
  const onMessage = (message: unknown) => messages.push(message);
  const child = startChild<object, unknown>({ args: ['--eval', program], onMessage, ...options });
  return { ...child, messages };
}

describe('a child process', () => {
  it('receives a message and answers, also right before it ends', async () => {
    const child = start(
      'process.once("message", ({ bytes }) => process.send({ sum: bytes[0] + bytes[1] }));',
    );
    child.send({ bytes: new Uint8Array([2, 3]) });
    expect(await child.ended).toEqual({ reason: 'exited', how: 'status 0' });
    expect(child.messages).toEqual([{ sum: 5 }]);
  });

  it('has no environment variables unless they are given', async () => {
    const program = 'process.send(process.env.PATH ?? null)';
    const [without, given] = [start(program), start(program, { env: { PATH: '/bin' } })];
    await Promise.all([without.ended, given.ended]);
    expect([without.messages, given.messages]).toEqual([[null], ['/bin']]);
  });
});

describe('the reason for the end of a child process', () => {
  it.each([
    ['a status', 'process.exit(3)', { reason: 'exited', how: 'status 3' }],
    ['an uncaught error', 'throw new Error("out of memory")', { reason: 'exited', how: 'status 1' }],
    ['a crash', 'process.abort()', { reason: 'killed', how: 'SIGABRT' }],
    ['a signal from elsewhere', 'process.kill(process.pid, "SIGKILL")', { reason: 'killed', how: 'SIGKILL' }],
  ])('is not a lack of memory for %s', async (_, program, end) => {
    expect(await start(program).ended).toEqual(end);
  });

  it('is out_of_memory when the engine reaches its limit', async () => {
    const program = 'const kept = []; for (;;) kept.push(new Array(100000).fill(kept.length));';
    expect(await start(program, { heapMegabytes: 32 }).ended).toMatchObject({ reason: 'out_of_memory' });
  });

  it('is the deadline or a stop when one of them ended it', async () => {
    const stop = new AbortController();
    const late = start(WAITS, { deadlineMs: 50 });
    const aborted = start(WAITS, { signal: stop.signal });
    const never = start(WAITS, { signal: AbortSignal.abort() });
    const stopped = start(WAITS);
    stop.abort();
    stopped.stop();
    const ends = await Promise.all([late, aborted, never, stopped].map(({ ended }) => ended));
    expect(ends.map(({ reason }) => reason)).toEqual(['deadline', 'stopped', 'stopped', 'stopped']);
  });
});
