// The notifier in the daemon: several targets, several processes, restarts, and a configuration that changes.
import { describe, expect, it } from 'vitest';
import type { Answering, Loopback } from '../../service/loopback.ts';
import { serve } from '../../service/loopback.ts';
import { sqliteFixture } from '../../store/fixture.ts';
import type { RunSketch } from '../../core/run-details.ts';
import { T0 } from '../../core/run-details.ts';
import { end, FAILED, noticeRows, stage, target, until } from './stage.ts';

const HOUR_MS = 3_600_000;
const OK: RunSketch = { status: 'converged' };
const HELD: RunSketch = { status: 'held', held: ['Perl'] };

const ok: Answering = (response) => void response.writeHead(200).end();

interface Received {
  readonly type: string;
  readonly data: { readonly account: string; readonly runId: string };
}

const received = ({ arrived }: Loopback) => arrived.map(({ body }) => JSON.parse(body) as Received);
const types = (server: Loopback) => received(server).map(({ type }) => type);

/** Waits until every notice is delivered. */
async function delivered(store: ReturnType<typeof stage>['store']): Promise<void> {
  await until(() => expect(noticeRows(store).filter((row) => row.delivered_at === null)).toEqual([]));
}

describe('the notifier', () => {
  it('sends each change once, in order, and the changes of a run before its new state', async () => {
    const on = stage();
    const server = await serve(ok);
    const notifier = on.notifier([target(server.url)]);
    await end(notifier, 1, OK);
    await end(notifier, 2, FAILED);
    await end(notifier, 3, FAILED);
    await end(notifier, 4, { ...HELD, created: 2 });
    await end(notifier, 5, OK);
    await delivered(on.store);
    expect(types(server)).toEqual(['failed', 'applied', 'recovered', 'held', 'recovered']);
  });

  it('does not make a run wait for a target', async () => {
    const on = stage();
    const server = await serve(() => undefined);
    const notifier = on.notifier([target(server.url)]);
    await end(notifier, 1, FAILED);
    await until(() => expect(server.arrived).toHaveLength(1));
    for (let n = 2; n < 20; n += 1) await end(notifier, n, { ...OK, created: 1 });
    expect(noticeRows(on.store)).toHaveLength(20);
    expect(server.arrived).toHaveLength(1);
  });

  it('sends the notifications of an account in order, and does not make other accounts wait', async () => {
    const on = stage();
    const server = await serve((response, { body }) => {
      const refuses = body.includes('"acme"') && on.clock.nowMs() < T0 + 1000;
      response.writeHead(refuses ? 503 : 200).end();
    });
    const notifier = on.notifier([target(server.url)]);
    await end(notifier, 1, FAILED);
    await end(notifier, 2, OK);
    await end(notifier, 3, { ...FAILED, account: 'other' });
    await until(() =>
      expect(
        received(server)
          .map(({ data }) => data.account)
          .toSorted(),
      ).toEqual(['acme', 'other']),
    );
    await until(() => expect(noticeRows(on.store)[0]?.attempts).toBe(1));
    await on.clock.pass(1000);
    await delivered(on.store);
    expect(
      received(server)
        .filter(({ data }) => data.account === 'acme')
        .map(({ type }) => type),
    ).toEqual(['failed', 'failed', 'recovered']);
  });

  it('does not make a target wait for another one that hangs', async () => {
    const on = stage();
    const [dead, lively] = [await serve(() => undefined), await serve(ok)];
    const notifier = on.notifier([target(dead.url), target(lively.url)]);
    for (let n = 0; n < 6; n += 1) await end(notifier, n, { ...FAILED, account: `a${String(n)}` });
    await until(() => expect(lively.arrived).toHaveLength(6));
    expect(dead.arrived.length).toBeLessThanOrEqual(4);
  });

  it('writes nothing without targets', async () => {
    const on = stage();
    await end(on.notifier([]), 1, FAILED);
    expect(on.store.rows('select * from notice_states')).toEqual([]);
  });

  it('logs a failing store, and neither rejects nor ends', async () => {
    const on = stage();
    const notifier = on.notifier([target('http://127.0.0.1:1/')]);
    await end(notifier, 1, OK);
    on.store.execute('drop table notice_states');
    await end(notifier, 2, FAILED);
    expect(on.log.lines).toMatchObject([
      { level: 'error', event: 'outbox_failed', account: 'acme', code: 'store_failed' },
    ]);
    on.store.execute('drop table notices');
    await on.clock.pass(30_000);
    await until(() => expect(on.log.lines).toHaveLength(2));
    expect(on.log.lines[1]).toMatchObject({ event: 'outbox_failed', code: 'store_failed' });
  });

  it('stops sending a stored notification that cannot be read', async () => {
    const on = stage();
    const server = await serve(ok);
    const notifier = on.notifier([]);
    await end(notifier, 1, OK);
    const hook = target(server.url);
    const first = on.notifier([hook]);
    await first.stop();
    await end(first, 2, FAILED);
    on.store.execute("update notices set body = '{', attempts = 6");
    on.notifier([hook]);
    await until(() => expect(noticeRows(on.store)[0]).toMatchObject({ error: 'internal' }));
    expect(noticeRows(on.store)[0]?.failed_at).not.toBeNull();
  });
});

describe('two processes on one store', () => {
  it('send each once', async () => {
    const on = stage();
    const server = await serve(ok);
    const targets = [target(server.url)];
    const one = on.notifier(targets);
    const two = on.notifier(targets, sqliteFixture(on.store.file));
    for (let n = 0; n < 20; n += 1)
      await end(n % 2 === 0 ? one : two, n, { ...OK, created: 1, account: `a${String(n)}` });
    await delivered(on.store);
    const ids = server.arrived.map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([20, 20]);
  });

  it('do not repeat what the other one has delivered and could not store yet', async () => {
    const on = stage();
    const server = await serve(ok);
    const targets = [target(server.url)];
    const one = on.notifier(targets);
    on.store.execute(
      "create trigger gone before update of delivered_at on notices begin select raise(fail, 'gone'); end",
    );
    await end(one, 1, FAILED);
    await until(() => expect(on.log.lines.at(-1)?.['event']).toBe('outbox_failed'));
    const stopped = one.stop();
    await on.clock.pass(60_000);
    await stopped;
    on.notifier(targets, sqliteFixture(on.store.file));
    await on.clock.pass(30_000);
    on.store.execute('drop trigger gone');
    await on.clock.pass(5000);
    await delivered(on.store);
    await on.clock.pass(HOUR_MS);
    expect(types(server)).toEqual(['failed']);
  });

  it('keep the notifications for the targets of the other one, also while it restarts', async () => {
    const on = stage();
    let isDown = true;
    const [mine, theirs] = [
      await serve(ok),
      await serve((response) => void response.writeHead(isDown ? 500 : 200).end()),
    ];
    const other = on.notifier([target(theirs.url)], sqliteFixture(on.store.file));
    await end(other, 1, FAILED);
    await until(() => expect(noticeRows(on.store)[0]).toMatchObject({ attempts: 1 }));
    await other.stop();
    isDown = false;
    await on.clock.pass(HOUR_MS / 2);
    const one = on.notifier([target(mine.url)]);
    await end(one, 2, FAILED);
    await until(() => expect(types(mine)).toEqual(['failed']));
    await one.stop();
    on.notifier([target(theirs.url)]);
    await delivered(on.store);
    expect(types(theirs)).toEqual(['failed', 'failed']);
  });
});

describe('notifications of one commit', () => {
  it('are one message for people, also after a restart', async () => {
    const on = stage();
    const [chat, programs] = [await serve(ok), await serve(ok)];
    const targets = [target(chat.url, { format: 'slack', collectMs: 60_000 }), target(programs.url)];
    const before = on.notifier(targets);
    const run = { ...OK, created: 1, configCommit: 'c06d636'.padEnd(40, '0'), configSubject: 'add Rust' };
    for (let n = 0; n < 30; n += 1) await end(before, n, { ...run, account: `a${String(n)}` });
    await until(() => expect(programs.arrived).toHaveLength(30));
    await before.stop();
    on.notifier(targets, sqliteFixture(on.store.file));
    await on.clock.pass(59_999);
    expect(chat.arrived).toEqual([]);
    await on.clock.pass(1);
    await delivered(on.store);
    expect(
      chat.arrived.map(({ body }) => (JSON.parse(body) as { text: string }).text.split('\n')[0]),
    ).toEqual(['c06d636 add Rust: 30 applied']);
    expect(on.log.lines.at(-1)).toMatchObject({
      event: 'notification_delivered',
      commit: run.configCommit,
      notices: 30,
    });
  });
});

describe('a restart of the notifier', () => {
  it('repeats no notification', async () => {
    const on = stage();
    const server = await serve(ok);
    const targets = [target(server.url)];
    const before = on.notifier(targets);
    await end(before, 1, FAILED);
    await delivered(on.store);
    await before.stop();
    const after = on.notifier(targets, sqliteFixture(on.store.file));
    await end(after, 2, FAILED);
    await end(after, 3, OK);
    await delivered(on.store);
    expect(types(server)).toEqual(['failed', 'recovered']);
  });

  it('delivers waiting notifications with the same id and in the same order', async () => {
    const on = stage();
    let isDown = true;
    const server = await serve((response) => void response.writeHead(isDown ? 500 : 200).end());
    const targets = [target(server.url)];
    const before = on.notifier(targets);
    await end(before, 1, FAILED);
    await until(() => expect(noticeRows(on.store)[0]).toMatchObject({ attempts: 1 }));
    await end(before, 2, OK);
    await before.stop();
    isDown = false;
    on.notifier(targets, sqliteFixture(on.store.file));
    await on.clock.pass(1000);
    await delivered(on.store);
    expect(types(server)).toEqual(['failed', 'failed', 'recovered']);
    const [first, again] = server.arrived;
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(again?.body).toBe(first?.body);
  });

  it('delivers waiting notifications also after a long time', async () => {
    const on = stage();
    const server = await serve(ok);
    const targets = [target(server.url)];
    const before = on.notifier(targets);
    await before.stop();
    await end(before, 1, FAILED);
    await on.clock.pass(48 * HOUR_MS);
    on.notifier(targets);
    await until(() => expect(types(server)).toEqual(['failed']));
  });

  it('waits for a delivery that is about to end', async () => {
    const on = stage();
    let answer: (() => void) | undefined;
    const server = await serve((response) => {
      answer = () => void response.writeHead(200).end();
    });
    const notifier = on.notifier([target(server.url)]);
    await end(notifier, 1, FAILED);
    await until(() => expect(answer).toBeDefined());
    const stopped = notifier.stop();
    await on.clock.pass(9999);
    answer?.();
    await stopped;
    expect(noticeRows(on.store)[0]?.delivered_at).not.toBeNull();
    expect(server.arrived).toHaveLength(1);
  });
});

describe('a target of notifications', () => {
  it('that is new receives the current state at the next run, and nothing older', async () => {
    const on = stage();
    const [old, fresh] = [await serve(ok), await serve(ok)];
    const notifier = on.notifier([target(old.url)]);
    await end(notifier, 1, { ...OK, created: 1 });
    await end(notifier, 2, HELD);
    notifier.update([target(old.url), target(fresh.url)]);
    await end(notifier, 3, HELD);
    await end(notifier, 4, { ...OK, account: 'other' });
    await delivered(on.store);
    expect([types(old), types(fresh)]).toEqual([['applied', 'held'], ['held']]);
  });

  it('that is configured again continues where it was', async () => {
    const on = stage();
    const server = await serve(
      (response, _, index) => void response.writeHead(index === 0 ? 500 : 200).end(),
    );
    const hook = target(server.url);
    const notifier = on.notifier([hook]);
    await end(notifier, 1, FAILED);
    await until(() => expect(noticeRows(on.store)[0]?.attempts).toBe(1));
    notifier.update([]);
    notifier.update([{ ...hook, events: ['failed'] }]);
    await on.clock.pass(1000);
    await delivered(on.store);
    await end(notifier, 2, OK);
    await end(notifier, 3, { ...FAILED, errorCode: 'unauthorized' });
    await delivered(on.store);
    expect(types(server)).toEqual(['failed', 'failed', 'failed']);
  });
});
