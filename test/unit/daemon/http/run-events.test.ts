// The progress of a run as server-sent events: what is sent, how often the journal is read, and when a stream ends.
import { describe, expect, it } from 'vitest';
import { createProgressReader } from '../../../../src/daemon/http/progress-reader.ts';
import { makeOperation, makeRun } from '../../report/samples.ts';
import { BEARER, makeDetail, type Running, RUN_ID, READER, start } from './stage.ts';

const PATH = `/runs/${RUN_ID}/events`;

function runningWith(done: number): ReturnType<typeof makeDetail> {
  const operations = Array.from({ length: 4 }, (_, index) =>
    makeOperation(index + 1, `Skill ${index}`, index < done ? {} : { status: 'pending' }),
  );
  return makeDetail({ run: makeRun({ id: RUN_ID, status: 'running', finishedAt: null }), operations });
}

/** A client that reads the stream; `text` grows. */
async function watch({ url }: Running) {
  const leaving = new AbortController();
  const answer = await fetch(url + PATH, { headers: BEARER, signal: leaving.signal });
  let text = '';
  const ended = (async () => {
    for await (const piece of answer.body ?? []) text += Buffer.from(piece).toString();
  })().catch(() => undefined);
  return { answer, text: () => text, ended, leave: () => leaving.abort() };
}

describe('the events of a run', () => {
  it('are its progress while it works, and its end', async () => {
    const running = await start({}, { runs: [runningWith(1)] });
    const { answer, text, ended } = await watch(running);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    await expect.poll(text).toContain('event: progress\ndata: <p><strong>1 of 4 operations done</strong>');
    running.stage.runs = [runningWith(3)];
    await expect.poll(text, { timeout: 5000 }).toContain('<strong>3 of 4 operations done</strong>');
    running.stage.runs = [makeDetail()];
    await ended;
    expect(text()).toMatch(/event: end\ndata: partial\n\n$/);
  });

  it('need a token of any role, and a complete id of a run', async () => {
    const { get, send } = await start();
    expect((await get(PATH)).status).toBe(401);
    expect((await get(PATH, READER)).text).toContain('event: end');
    expect((await send('HEAD', PATH, BEARER)).status).toBe(200);
    expect((await get('/runs/01900000-0000-7000-8000-000000000000/events', BEARER)).status).toBe(404);
    expect((await get('/runs/0193a5c2/events', BEARER)).status).toBe(404);
  });

  it('are sent to a limited number of pages, and a page that leaves makes room', async () => {
    const running = await start({ limits: { streams: 2 } }, { runs: [runningWith(1)] });
    const watchers = await Promise.all([watch(running), watch(running)]);
    const refused = await running.get(PATH, BEARER);
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('reload the page')]);
    for (const { leave } of watchers) leave();
    running.stage.runs = [makeDetail()];
    await expect.poll(async () => (await running.get(PATH, BEARER)).status, { timeout: 5000 }).toBe(200);
    expect(running.logged).toEqual([]);
  });

  it('end at once when the server closes', async () => {
    const running = await start({}, { runs: [runningWith(1)] });
    const { text, ended } = await watch(running);
    await expect.poll(text).toContain('event: progress');
    const startedAt = performance.now();
    await running.close();
    await ended;
    expect(performance.now() - startedAt).toBeLessThan(900);
    expect(text()).not.toContain('event: end');
  });
});

const PROGRESS = { status: 'running', total: 4, done: 1, failed: 0, sent: 0, unknown: 0 } as const;

describe('the reader of progress', () => {
  it('reads a run once in a while for everybody, and other runs on their own', async () => {
    let nowMs = 0;
    const reads: string[] = [];
    const read = createProgressReader(
      async (id) => {
        reads.push(id);
        return { ...PROGRESS, done: reads.length, firstSentAt: null };
      },
      1000,
      () => nowMs,
    );
    const all = await Promise.all([read('a'), read('a'), read('b'), read('a')]);
    expect(all.map((progress) => progress?.done)).toEqual([1, 1, 2, 1]);
    nowMs = 999;
    expect((await read('a'))?.done).toBe(1);
    nowMs = 1000;
    expect((await read('a'))?.done).toBe(3);
    expect(reads).toEqual(['a', 'b', 'a']);
  });
});
