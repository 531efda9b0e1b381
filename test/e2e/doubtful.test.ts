// Creates and deletes whose outcome is unknown, lists that lag, and names that the service changes:
// no duplicate, and no create sent again but by a second run.
import { expect, test } from 'vitest';
import type { Fault } from '../../src/sandbox/sandbox.ts';
import { codes, scene, type Scene, type SceneOptions, QUICK } from '../support/scene.ts';
import { costly } from '../support/thorough.ts';

/** One existing skill shows which account it is, so that creates run in parallel. */
function withKept(options: SceneOptions = {}): Promise<Scene> {
  const api = { ...QUICK, ...options.api };
  return scene({ skills: ['Kept'], file: 'skills: [Kept, New]', ...options, api });
}

const posts = (s: Scene, name = 'New'): number =>
  s.writes().filter((write) => write === `POST ${name}`).length;
const onCreate = (action: Fault['do'], times: Fault['times'] = 1): Fault => ({
  match: { method: 'POST', name: 'New' },
  times,
  do: action,
});

/** How the response to a create can be damaged, and how often the create is sent by both runs of an apply. */
const doubts: readonly (readonly [string, Fault['do'], number])[] = [
  ['the connection broke before the effect', { type: 'drop-before-effect' }, 2],
  ['the connection broke after the effect', { type: 'drop-after-effect' }, 1],
  ['the effect came after the connection broke', { type: 'delay-effect', ms: 300 }, 1],
  ['status 500 came after the effect', { type: 'effect-then-status', status: 500 }, 1],
  ['status 503 came after the effect', { type: 'effect-then-status', status: 503 }, 1],
  ['status 503 came instead of the effect', { type: 'status', status: 503 }, 2],
  ['status 408 came after the effect', { type: 'effect-then-status', status: 408 }, 1],
  ['the answer had no _id', { type: 'no-id' }, 1],
  ['the answer came after the time-out', { type: 'latency', ms: 2000 }, 1],
  ['the answer was cut short', { type: 'cut-body', fraction: 0.5 }, 1],
  ['the answer was no JSON', { type: 'invalid-json' }, 1],
  ['the answer was a list', { type: 'wrong-type' }, 1],
  ['the answer was a page of a proxy', { type: 'html' }, 2],
];

test('however the response to a create is damaged, the lists show the outcome, and one entry exists in the end', async () => {
  const wanted = doubts.map(([what]) => what);
  const s = await withKept({
    file: `skills: [Kept, ${wanted.join(', ')}]\nroles: [Twin]`,
    api: { concurrency: 32 },
    faults: [
      ...doubts.map(([name, action]) => ({ match: { method: 'POST', name }, do: action })),
      { match: { method: 'POST', path: 'role' }, do: { type: 'drop-after-effect' } },
    ],
  });
  const { result, run } = await s.apply();
  expect(s.sandbox.faults().acted).toEqual([...doubts.map(() => 1), 1]);
  expect(s.names()).toEqual({ skills: ['Kept', ...wanted].toSorted(), roles: ['Twin'] });
  expect(Object.fromEntries(wanted.map((name) => [name, posts(s, name)]))).toEqual(
    Object.fromEntries(doubts.map(([name, , sent]) => [name, sent])),
  );
  expect([result.status, result.stderr]).toEqual([0, expect.stringContaining('a second run settles them')]);
  // The report is that of the second run.
  const resent = doubts.filter(([, , sent]) => sent === 2).map(([name]) => name);
  expect(run).toMatchObject({ status: 'converged', created: resent.length, failed: 0 });
  expect(run.operations.map(({ name }) => name)).toEqual(resent.toSorted());
  s.sandbox.clearRequests();
  expect((await s.apply()).run.status).toBe('converged');
  expect(s.writes()).toEqual([]);
});

test('a create that never succeeds is sent once in each of two runs, then unknown, and the next apply makes no duplicate', async () => {
  const s = await withKept({
    api: { timeout: '500ms', settle: '600ms' },
    faults: [onCreate({ type: 'drop-before-effect' }, 'always')],
  });
  const { result, run } = await s.apply();
  expect(result.status).toBe(1);
  expect(run).toMatchObject({ status: 'partial', failed: 1 });
  expect(run.operations).toMatchObject([{ name: 'New', status: 'unknown', attempts: 1 }]);
  expect(posts(s)).toBe(2);
  s.sandbox.setFaults([]);
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 1 });
  expect(s.names().skills).toEqual(['Kept', 'New']);
});

test('the second run of an apply deletes what its plan deletes, and nothing that its plan held', async () => {
  const s = await withKept({
    skills: ['Kept', 'Old'],
    faults: [onCreate({ type: 'drop-before-effect' })],
    isFresh: true,
  });
  const fresh = await s.apply();
  expect([fresh.result.status, fresh.run.status, s.names().skills]).toEqual([
    3,
    'held',
    ['Kept', 'New', 'Old'],
  ]);
  s.configure('skills: [Kept, Next]');
  s.sandbox.setFaults([{ match: { method: 'POST', name: 'Next' }, do: { type: 'drop-before-effect' } }]);
  const next = await s.apply();
  expect([next.run.status, s.names().skills]).toEqual(['converged', ['Kept', 'Next']]);
});

test('two entries that a late effect created are reported as duplicates, and none is deleted', async () => {
  const s = await withKept({
    api: { timeout: '500ms', settle: '600ms' },
    faults: [onCreate({ type: 'delay-effect', ms: 2500 })],
  });
  await s.apply();
  await s.until('the late effect has come', () => s.names().skills.length === 3);
  const { run } = await s.apply();
  expect(run.status).toBe('converged');
  expect(codes(run)).toContain('duplicate');
  expect(s.names().skills).toEqual(['Kept', 'New', 'New']);
});

costly('creates and lists wait for a Retry-After in seconds or as a date', async () => {
  const s = await withKept({
    faults: [
      onCreate({ type: 'rate-limit', retryAfter: 1, format: 'seconds' }),
      { match: { method: 'GET', path: 'role' }, do: { type: 'rate-limit', retryAfter: 1, format: 'date' } },
    ],
  });
  const { run } = await s.apply();
  expect(run).toMatchObject({ status: 'converged', created: 1 });
  expect(posts(s)).toBe(2);
  for (const path of ['skill', 'role']) {
    const isCounted = ({ method, fault }: { method: string; fault: string | null }): boolean =>
      fault === 'rate-limit' || method === (path === 'skill' ? 'POST' : 'GET');
    const sent = s.sandbox.requests().filter((each) => each.path.endsWith(path) && isCounted(each));
    const [first, second] = sent.map(({ at }) => Date.parse(at));
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1000);
  }
});

test('a Retry-After over two minutes ends the run, and no request is sent before that time', async () => {
  const s = await withKept({
    file: 'skills: [Kept, New, Later]',
    api: { concurrency: 1 },
    faults: [{ match: { method: 'POST' }, do: { type: 'rate-limit', retryAfter: 300 } }],
  });
  const { result, run } = await s.apply();
  expect(result.status).toBe(1);
  expect(run).toMatchObject({ status: 'partial', errorCode: 'throttled', created: 0 });
  expect(s.writes()).toHaveLength(1);
  expect(run.operations.map(({ name, status }) => [name, status])).toEqual([
    ['Later', 'failed'],
    ['New', 'skipped'],
  ]);

  s.sandbox.clearRequests();
  const again = await s.apply();
  expect(again.result.status).toBe(1);
  expect(again.run).toMatchObject({ status: 'failed', errorCode: 'throttled' });
  expect((await s.run(['plan'])).status).toBe(1);
  expect(s.sandbox.requests()).toEqual([]);

  s.execute('update accounts set throttled_until = ?', new Date(Date.now() - 1000).toISOString());
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 2 });
});

test('an entry whose name the service changed in case or Unicode form is the same entry in later runs', async () => {
  const s = await withKept({
    skills: ['kept'],
    file: 'skills: [kept, TypeScript, "C＋＋"]',
    settings: { caseNames: 'lower', normaliseNames: 'NFKC' },
  });
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 2 });
  for (let round = 0; round < 2; round += 1) {
    const { run } = await s.apply();
    expect(run).toMatchObject({ status: 'converged', created: 0, deleted: 0 });
    const changed = run.warnings.filter(({ code }) => code === 'name_changed');
    expect(changed.map(({ name }) => name)).toEqual(['TypeScript', 'C＋＋']);
  }
  expect(s.names().skills).toEqual(['c++', 'kept', 'typescript']);
});

test('a change that no list shows within settle makes the run partial, counts as done for a while, and is not repeated', async () => {
  const s = await withKept({
    skills: ['Kept', 'Old'],
    api: { timeout: '500ms', settle: '600ms' },
    settings: { listDelayMs: 60_000 },
  });
  const { result, run } = await s.apply();
  expect(result.status).toBe(1);
  expect(run).toMatchObject({ status: 'partial', created: 1, deleted: 1 });
  const late = run.warnings.filter(({ code }) => code === 'not_shown_yet');
  expect(late.map(({ name = '' }) => name).toSorted()).toEqual(['New', 'Old']);

  s.sandbox.clearRequests();
  const next = await s.apply();
  expect(next.plan.summary).toMatchObject({ create: 0, delete: 0 });
  const again = next.plan.warnings.map(({ code, name }) => `${code} ${name}`);
  expect([next.run.status, again]).toEqual(['partial', ['not_shown_yet New', 'not_shown_yet Old']]);
  expect(s.writes()).toEqual([]);
  expect(s.names().skills).toEqual(['Kept', 'New']);
});

test('a delete whose response was lost is repeated until no list shows the entry', async () => {
  const damaged = {
    'dropped after': { type: 'drop-after-effect' },
    'dropped before': { type: 'drop-before-effect' },
    '503 after': { type: 'effect-then-status', status: 503 },
    '500 instead': { type: 'status', status: 500 },
  } satisfies Record<string, Fault['do']>;
  const s = await withKept({
    skills: ['Kept', ...Object.keys(damaged)],
    file: 'skills: [Kept]',
    faults: Object.entries(damaged).map(([name, action]) => ({
      match: { method: 'DELETE', name },
      do: action,
    })),
  });
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 4 });
  expect(s.sandbox.faults().acted).toEqual([1, 1, 1, 1]);
  expect(s.names().skills).toEqual(['Kept']);
});
