// The status of commits: what is sent to a local server in place of GitHub and GitLab, when, and how often.
import { describe, expect, it } from 'vitest';
import type { Fleet } from '../../../../src/daemon/notify/commit-status.ts';
import type { NotifySettings } from '../../../../src/core/settings.ts';
import type { Answering, Loopback } from '../../service/loopback.ts';
import { serve } from '../../service/loopback.ts';
import { sqliteFixture } from '../../store/fixture.ts';
import type { RunSketch } from '../../core/run-details.ts';
import { end, FAILED, noticeRows, stage, target, until } from './stage.ts';

const SHA = 'c06d636'.padEnd(40, '0');
const NEXT = 'd34db33'.padEnd(40, '0');
const GAP_MS = 10_000;
const TOKEN = 'status-token-canary';

const created: Answering = (response) => void response.writeHead(201).end('{}');
const on = (commit: string, run: RunSketch, account: string): RunSketch => ({
  ...run,
  account,
  configCommit: commit,
  configDirty: false,
});
const bodies = ({ arrived }: Loopback) =>
  arrived.map(({ body }) => JSON.parse(body) as Record<string, string>);

async function statusStage(format: 'github' | 'gitlab', answer = created, of: Partial<NotifySettings> = {}) {
  const own = stage();
  own.env.set('TOKEN', TOKEN);
  const server = await serve(answer);
  const targets = [
    target(server.url, { format, repository: 'team/sub.catalog', secret: { env: 'TOKEN' }, ...of }),
  ];
  const fleet: { now: Fleet | null } = { now: { commit: SHA, accounts: ['a', 'b', 'c'] } };
  const notifier = own.notifier(targets, own.store, () => Promise.resolve(fleet.now));
  /** Passes the time in steps shorter than the time limit of a request, until so many were made and settled. */
  const next = (count: number, isDone = () => server.arrived.length >= count) =>
    until(async () => {
      const settled = noticeRows(own.store).reduce((sum, { attempts }) => sum + attempts, 0);
      expect(settled).toBe(server.arrived.length);
      if (!isDone()) await own.clock.pass(5000);
      expect([isDone(), server.arrived.length]).toEqual([true, count]);
    });
  const start = () => own.notifier(targets, sqliteFixture(own.store.file), () => Promise.resolve(fleet.now));
  return { ...own, start, server, targets, fleet, notifier, next };
}

describe('the status of a commit', () => {
  it('is pending while a rollout holds an account', async () => {
    const own = await statusStage('github');
    await own.next(1);
    for (const [index, account] of ['a', 'b'].entries()) await end(own.notifier, index, on(SHA, {}, account));
    await own.next(2);
    await end(own.notifier, 3, on(SHA, { status: 'held', held: [{ rules: ['rollout'] }] }, 'c'));
    await own.clock.pass(6 * GAP_MS);
    expect(bodies(own.server).at(-1)).toMatchObject({
      state: 'pending',
      description: '2 in order, 1 still to run',
    });
  });

  it('is pending while accounts still have to run, then their result, with one request for each change', async () => {
    const own = await statusStage('github', created, { publicUrl: 'https://rolecall.example.com' });
    await own.next(1);
    await end(own.notifier, 1, on(SHA, { created: 2 }, 'a'));
    await end(own.notifier, 2, on(SHA, { status: 'planned', toDelete: ['Perl'] }, 'b'), {
      pendingDigest: 'sha256:delete-Perl',
      mode: 'approve',
    });
    await own.clock.pass(GAP_MS / 2);
    expect(own.server.arrived).toHaveLength(1);
    await own.next(2);
    await end(own.notifier, 3, on(SHA, {}, 'c'));
    await end(own.notifier, 4, on(SHA, {}, 'a'));
    await own.next(3);
    await end(own.notifier, 5, on(SHA, FAILED, 'c'));
    // A pause of all accounts is not what the commit has come to.
    await end(own.notifier, 5.5, on(SHA, { status: 'planned', errorCode: 'paused' }, 'c'));
    await own.next(4);
    await end(own.notifier, 6, on(SHA, FAILED, 'c'));
    await own.clock.pass(6 * GAP_MS);
    const common = { context: 'rolecall', target_url: 'https://rolecall.example.com/?q=c06d636' };
    const waits = '1 waits for approval (1 person loses Perl)';
    expect(bodies(own.server)).toEqual([
      { state: 'pending', description: '3 still to run', ...common },
      { state: 'pending', description: `1 applied, ${waits}, 1 still to run`, ...common },
      { state: 'success', description: `1 applied, 1 in order, ${waits}`, ...common },
      { state: 'failure', description: `1 applied, ${waits}, 1 failed`, ...common },
    ]);
    const [first] = own.server.arrived;
    expect([first?.method, first?.url]).toEqual(['POST', `/repos/team/sub.catalog/statuses/${SHA}`]);
    expect(first?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      accept: 'application/vnd.github+json',
      'user-agent': 'rolecall/1.2.3',
    });
    expect(JSON.stringify([own.log.lines, noticeRows(own.store)])).not.toContain(TOKEN);
    expect(own.log.lines[0]).toMatchObject({ event: 'notification_delivered', type: 'status', commit: SHA });
  });

  it('has the names and the address of GitLab, which refuses a second `pending`', async () => {
    const own = await statusStage('gitlab');
    await own.next(1);
    await end(own.notifier, 1, on(SHA, FAILED, 'a'));
    await end(own.notifier, 2, on(SHA, {}, 'b'));
    await own.clock.pass(3 * GAP_MS);
    expect(own.server.arrived).toHaveLength(1);
    await end(own.notifier, 3, on(SHA, {}, 'c'));
    await own.next(2);
    expect(bodies(own.server)).toEqual([
      { state: 'pending', name: 'rolecall', description: '3 still to run' },
      { state: 'failed', name: 'rolecall', description: '2 in order, 1 failed' },
    ]);
    const [first] = own.server.arrived;
    expect(first?.url).toBe(`/api/v4/projects/team%2Fsub.catalog/statuses/${SHA}`);
    expect(first?.headers).toMatchObject({ 'private-token': TOKEN });
  });

  it('is sent once by several processes, and not again after a restart', async () => {
    const own = await statusStage('github');
    own.start();
    await own.next(1);
    await own.clock.pass(6 * GAP_MS);
    await own.notifier.stop();
    own.start();
    await own.clock.pass(6 * GAP_MS);
    expect(own.server.arrived).toHaveLength(1);
  });

  it('is not sent by a process whose files differ from the commit', async () => {
    const own = await statusStage('github');
    await own.next(1);
    own.fleet.now = null;
    await end(own.notifier, 1, on(SHA, { created: 1 }, 'a'));
    await own.clock.pass(6 * GAP_MS);
    expect(own.server.arrived).toHaveLength(1);
    own.fleet.now = { commit: SHA, accounts: ['a'] };
    await end(own.notifier, 2, { ...on(SHA, FAILED, 'a'), configDirty: true });
    await end(own.notifier, 0, on(SHA, FAILED, 'a'));
    await own.next(2);
    expect(bodies(own.server)[1]).toMatchObject({ state: 'success', description: '1 applied' });
  });

  it('of a commit that is replaced ends with what ran', async () => {
    const own = await statusStage('github');
    await own.next(1);
    own.fleet.now = { commit: NEXT, accounts: ['a'] };
    await end(own.notifier, 1, on(NEXT, { status: 'held', held: ['Perl'] }, 'a'));
    await own.next(2);
    await own.next(3);
    expect(own.server.arrived.map(({ url }) => url.slice(-40))).toEqual([SHA, SHA, NEXT]);
    expect(bodies(own.server).slice(1)).toMatchObject([
      { state: 'success', description: 'replaced by d34db33: 3 still to run' },
      { state: 'success', description: '1 held' },
    ]);
  });

  it.each([
    ['github', 140],
    ['gitlab', 255],
  ] as const)('on %s has a description of at most %i characters', async (format, most) => {
    const own = await statusStage(format);
    own.fleet.now = { commit: SHA, accounts: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] };
    const toDelete = ['\u{1f600}', 'B', 'C'].map((name) => name.repeat(300));
    await own.next(1);
    await end(
      own.notifier,
      1,
      on(SHA, { status: 'planned', toDelete, plan: { digest: 'd' }, planDigest: 'd' }, 'a'),
      {
        pendingDigest: 'd',
      },
    );
    own.fleet.now = { commit: SHA, accounts: ['a'] };
    await own.next(2);
    const description = bodies(own.server)[1]?.['description'] ?? '';
    expect(Array.from(description).length).toBeLessThanOrEqual(most);
    expect(description).toMatch(/^1 waits for approval \(1 person loses 😀/u);
  });

  it.each<[string, Answering, number, string | null]>([
    ['is refused is not sent again', (response) => void response.writeHead(422).end(), 1, 'http_422'],
    [
      'is forbidden for a time is sent after it',
      (response, _, n) => void response.writeHead(n === 0 ? 403 : 201, { 'retry-after': '60' }).end(),
      2,
      null,
    ],
    ['fails is sent again', (response, _, n) => void response.writeHead(n === 0 ? 503 : 201).end(), 2, null],
    ['always fails is sent seven times', (response) => void response.writeHead(500).end(), 7, 'http_500'],
  ])('that %s', async (_, answer, count, reason) => {
    const own = await statusStage('github', answer);
    await own.next(count, () => own.results.at(-1)?.result.endsWith('delivered') === true);
    await own.clock.pass(3_600_000);
    expect(own.server.arrived).toHaveLength(count);
    expect(noticeRows(own.store)).toMatchObject([{ error: reason }]);
    const isLost = reason !== null;
    expect(own.log.lines.some(({ event }) => event === 'notification_undelivered')).toBe(isLost);
    expect(own.results.at(-1)).toMatchObject({
      format: 'github',
      result: isLost ? 'undelivered' : 'delivered',
    });
  });
});
