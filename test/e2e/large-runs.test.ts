// Large stored runs are read in a separate process: the same outcome, the same pages, and the reason if one is not
// shown.
import { expect, onTestFinished, test } from 'vitest';
import { outcomeOf } from '../../src/core/run-outcome.ts';
import type { RunView } from '../../src/daemon/http/run-view.ts';
import { renderRunView } from '../../src/daemon/http/pages/run-views.tsx';
import { createStoredRuns } from '../../src/workers/stored-runs.ts';
import { entry, plan, sha256 } from '../unit/core/builders.ts';
import { makeAccount } from '../unit/daemon/http/stage.ts';
import { testLog } from '../unit/daemon/notify/stage.ts';
import { sqliteFixture } from '../unit/store/fixture.ts';

const PROGRAM = new URL('../../dist/read-run.js', import.meta.url);
const MANY = Array.from({ length: 4000 }, (_, number) => `Skill ${number}`);

async function largeRun(program = PROGRAM) {
  const store = sqliteFixture();
  const id = await store.begin(1);
  await store.journal.recordPlan(
    id,
    plan({ skills: ['Go'], observed: { skill: MANY.map((name) => entry(name)) } }),
  );
  await store.end(id, 'planned');
  const detail = await store.reader.run(id);
  const log = testLog();
  const [stop, kill] = [new AbortController(), new AbortController()];
  onTestFinished(() => {
    stop.abort();
    kill.abort();
  });
  const signals = { stop: stop.signal, kill: kill.signal };
  const runs = createStoredRuns({ reader: store.reader, store: { file: store.file }, signals, log, program });
  if (detail === null) throw new Error('there is no run');
  return { id, store, detail, log, runs };
}

const NOBODY_LEAVES = new AbortController().signal;
const visitor = { kind: 'session', name: 'http', role: 'operate' } as const;
const seen = { place: null, nowMs: 0, visitor, isStopping: false };

test('a separate process returns the same outcome of a large run as this process', async () => {
  const { id, detail, runs } = await largeRun();
  const digest = detail.plan?.digest ?? null;
  expect(detail.plan?.held.length).toBeGreaterThan(3000);
  expect(await runs.outcomeOf(id, digest)).toEqual(outcomeOf(detail, digest, sha256));
});

test('the pages of a large run and of its account are the same as those rendered in this process', async () => {
  const { id, store, detail, runs } = await largeRun();
  const digest = detail.plan?.digest ?? '';
  const account = makeAccount('acme', { lastRun: detail.run });
  const pending = { digest, runId: id, since: detail.run.startedAt };
  const lists = { trend: [], actions: [], hasLists: true };
  const views: RunView[] = [
    { type: 'run', id, ...seen },
    { type: 'account', account, runs: [detail.run], message: 'paused', ...lists, ...seen },
    { type: 'account', account: { ...account, pending }, runs: [], message: null, ...lists, ...seen },
  ];
  for (const view of views) {
    const html = await renderRunView(view, store.reader);
    expect(html).toContain('1 to 500 of 4000');
    const outcome = await runs.showPage(view, NOBODY_LEAVES);
    expect(outcome.type === 'page' && outcome.html === html).toBe(true);
  }
});

test('of six pages of large runs at once, two are refused as busy', async () => {
  const { id, runs } = await largeRun();
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, () => runs.showPage({ type: 'run', id, ...seen }, NOBODY_LEAVES)),
  );
  expect(outcomes.map(({ type }) => type)).toEqual(['page', 'page', 'page', 'page', 'busy', 'busy']);
});

test('the outcome of a large run is read before queued pages, and pages that nobody waits for are not rendered', async () => {
  const { id, detail, log, runs } = await largeRun();
  const order: string[] = [];
  const note = async <T>(name: string, work: Promise<T>): Promise<T> => {
    const result = await work;
    order.push(name);
    return result;
  };
  const leaving = new AbortController();
  const view = { type: 'run', id, ...seen } as const;
  const made = [
    note('page 1', runs.showPage(view, NOBODY_LEAVES)),
    note('page 2', runs.showPage(view, NOBODY_LEAVES)),
  ];
  const left = [1, 2].map(() => runs.showPage(view, leaving.signal));
  const full = await runs.showPage(view, NOBODY_LEAVES);
  const outcome = note('outcome', runs.outcomeOf(id, null));
  leaving.abort();
  const late = note('page 3', runs.showPage(view, NOBODY_LEAVES));
  expect(full).toEqual({ type: 'busy' });
  expect(await outcome).toEqual(outcomeOf(detail, null, sha256));
  expect((await Promise.all([...made, late])).map(({ type }) => type)).toEqual(['page', 'page', 'page']);
  expect((await Promise.all(left)).map(({ type }) => type)).toEqual(['busy', 'busy']);
  expect(order).toEqual(['page 1', 'outcome', 'page 2', 'page 3']);
  expect(log.lines).toEqual([]);
});

test('a damaged plan of a large run is the store error store_corrupt', async () => {
  const { id, store, runs } = await largeRun();
  store.execute('update plan_bodies set body = substr(body, 1, length(body) / 2)');
  store.execute(
    'update runs set warnings = ?',
    JSON.stringify([{ code: 'x', message: 'y'.repeat(3_000_000) }]),
  );
  const damaged = expect.objectContaining({ name: 'StoreError', code: 'store_corrupt' }) as Error;
  await expect(runs.showPage({ type: 'run', id, ...seen }, NOBODY_LEAVES)).rejects.toEqual(damaged);
  await expect(runs.outcomeOf(id, null)).rejects.toEqual(damaged);
});

test('a large run that cannot be read is logged and has no page, and its outcome is still known', async () => {
  const { id, detail, log, runs } = await largeRun(new URL('../support/ends-at-once.mjs', import.meta.url));
  const reason = 'the process that read it ended without a result (status 3)';
  const failed = { type: 'failed', runId: id, reason };
  expect(await runs.showPage({ type: 'run', id, ...seen }, NOBODY_LEAVES)).toEqual(failed);
  expect(await runs.outcomeOf(id, null)).toMatchObject({
    run: { ...detail.run },
    isUnread: true,
    plan: null,
    news: { health: null, applied: false },
  });
  expect(log.lines).toHaveLength(2);
  expect(log.lines[0]).toMatchObject({
    event: 'run_unread',
    runId: id,
    reason,
  });
});
