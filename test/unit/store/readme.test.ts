// The queries of the store's README, each run on a store with a small history.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { NewOperation, OperationResult } from '../../../src/core/ports.ts';
import { person, plan } from '../core/builders.ts';
import type { Fixture } from './fixture.ts';
import { DAY_MS, ENGINE, fixture, listed, operation, result, runId, T0 } from './fixture.ts';

const README = readFileSync(new URL('../../../src/store/README.md', import.meta.url), 'utf8');

/** The queries by the question above them. Where the engines differ, the first is for SQLite and the last for PostgreSQL. */
const QUERIES = new Map(
  README.slice(README.indexOf('\n## Queries'))
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const queries = [...section.matchAll(/^```sql\n([^]*?)^```$/gm)].map(([, query = '']) => query);
      return [section.split('\n')[0] ?? '', (ENGINE === 'sqlite' ? queries[0] : queries.at(-1)) ?? ''];
    }),
);

interface Made {
  readonly n: number;
  readonly atMs?: number;
  readonly account?: string;
  readonly seconds?: number;
  readonly operations?: readonly NewOperation[];
  readonly results?: readonly OperationResult[];
  readonly status?: 'converged' | 'held' | 'partial' | 'failed';
  readonly error?: readonly [code: string, message: string];
}

/** Journals one run with its operations and results. */
async function run(store: Fixture, made: Made): Promise<string> {
  const { atMs = T0, account = 'acme', operations = [], results = [], status = 'converged' } = made;
  const [errorCode, error] = made.error ?? [null, null];
  const lease = await store.take(runId(made.n), atMs, account);
  const id = await store.begin(made.n, { atMs, account, remote: account });
  await store.journal.addOperations(id, operations);
  const sent = results.map(({ seq }) => ({ seq, atMs }));
  await store.journal.commitOperations(id, lease, sent, []);
  await store.journal.commitOperations(id, lease, [], results);
  const count = (action: string): number =>
    results.filter(({ seq, status: end }) => end === 'done' && operations[seq - 1]?.action === action).length;
  await store.journal.endRun(id, {
    status,
    finishedAtMs: atMs + (made.seconds ?? 1) * 1000,
    counts: { created: count('create'), deleted: count('delete'), held: 0, kept: 0, failed: 0 },
    traffic: { requests: 3, retries: 0 },
    planDigest: null,
    errorCode,
    error,
    warnings: [],
  });
  await store.locks.release(lease);
  return id;
}

const remove = (name: string, id: string): NewOperation =>
  operation({ action: 'delete', name, remoteId: id });
const iso = (ms: number): string => new Date(ms).toISOString();

/** For each question: the history, and the rows that the query must return. */
const ANSWERS: Record<string, (store: Fixture) => Promise<readonly object[]>> = {
  async 'Who lost Kubernetes in March?'(store) {
    const operations = [remove('Kubernetes', 'k'), remove('Kubernetes', 'gone'), remove('Perl', 'p')];
    const results = [1, 2, 3].map((seq) => result(seq, { attempts: seq === 2 ? 0 : 1 }));
    const id = await run(store, { n: 1, operations, results });
    await run(store, {
      n: 2,
      atMs: T0 + 30 * DAY_MS,
      operations: [remove('Kubernetes', 'late')],
      results: [result(1, { atMs: T0 + 30 * DAY_MS })],
    });
    return [{ account: 'acme', kind: 'skill', remote_id: 'k', finished_at: iso(T0), run_id: id }];
  },
  async 'Which accounts failed most this week?'(store) {
    const atMs = T0;
    await run(store, { n: 1, atMs: T0 - 7 * DAY_MS, status: 'failed' });
    await run(store, { n: 2, atMs, status: 'failed' });
    await run(store, { n: 3, atMs, account: 'beta', status: 'failed' });
    await run(store, { n: 4, atMs: atMs + 1000, account: 'beta', status: 'partial' });
    await run(store, { n: 5, atMs, account: 'gamma' });
    return [
      { account: 'beta', failures: 2, latest: iso(atMs + 2000) },
      { account: 'acme', failures: 1, latest: iso(atMs + 1000) },
    ];
  },
  async 'Why did they fail?'(store) {
    const atMs = T0;
    const down = ['unavailable', 'the service is down'] as const;
    await run(store, { n: 1, atMs, status: 'failed', error: down });
    await run(store, { n: 2, atMs, account: 'beta', status: 'failed', error: down });
    await run(store, { n: 3, atMs, status: 'failed', error: ['unauthorized', 'the token was rejected'] });
    await run(store, { n: 4, atMs: T0 - 7 * DAY_MS, status: 'failed', error: down });
    return [
      { error_code: 'unavailable', runs: 2, accounts: 2, example: 'the service is down' },
      { error_code: 'unauthorized', runs: 1, accounts: 1, example: 'the token was rejected' },
    ];
  },
  async 'What did a run do?'(store) {
    const held = operation({
      ...remove('Go', 'g'),
      status: 'held',
      rule: 'in_use',
      reason: '1 person has it',
    });
    await run(store, { n: 1, operations: [operation({ name: 'Rust' }), held], results: [result(1)] });
    const rust = { seq: 1, action: 'create', kind: 'skill', name: 'Rust', status: 'done' };
    const go = { seq: 2, action: 'delete', kind: 'skill', name: 'Go', status: 'held' };
    return [
      { ...rust, rule: null, reason: null, http_status: 200 },
      { ...go, rule: 'in_use', reason: '1 person has it', http_status: null },
    ];
  },
  async 'What is held, and why?'(store) {
    const held = (name: string): NewOperation =>
      operation({ ...remove(name, name), status: 'held', rule: 'in_use', reason: '1 person has it' });
    await run(store, { n: 1, operations: [held('Old')], status: 'held' });
    await run(store, { n: 2, operations: [held('Go')], status: 'held' });
    const change = { action: 'delete', kind: 'skill', name: 'Go', rule: 'in_use', reason: '1 person has it' };
    return [{ account: 'acme', ...change }];
  },
  async 'Which creates and deletes have an unknown outcome?'(store) {
    const operations = ['Rust', 'Zig', 'Go'].map((name) => operation({ name }));
    const results = [result(1), result(2, { status: 'unknown' }), result(3, { status: 'unknown' })];
    const id = await run(store, { n: 1, operations, results, status: 'partial' });
    const settled = { runId: id, seq: 3, kind: 'skill', name: 'Go', sinceMs: T0 } as const;
    await store.journal.settleCreate(settled, null, await store.begin(2, { remote: 'acme' }), T0);
    const change = { action: 'create', kind: 'skill', name: 'Zig', started_at: iso(T0) };
    return [{ account: 'acme', ...change, run_id: id }];
  },
  async 'Which runs were the slowest?'(store) {
    const fast = await run(store, { n: 1, seconds: 2 });
    const slow = await run(store, { n: 2, seconds: 90.5 });
    const row = { account: 'acme', status: 'converged', requests: 3, retries: 0 };
    return [
      { id: slow, ...row, seconds: 90.5 },
      { id: fast, ...row, seconds: 2 },
    ];
  },
  async 'Which plans wait for approval, and which are approved?'(store) {
    for (const [n, account] of ['acme', 'beta', 'gamma'].entries()) {
      const id = await store.begin(n + 1, { account, remote: account, mode: 'approve' });
      const end = { status: 'planned', finishedAtMs: T0, counts: null, planDigest: null } as const;
      const rest = { traffic: { requests: 3, retries: 0 }, errorCode: null, error: null, warnings: [] };
      await store.journal.endRun(id, {
        ...end,
        ...rest,
        pending: account === 'gamma' ? null : `sha256:${account}`,
      });
    }
    await store.operator.approve('beta', null, { name: 'sam', via: 'cli' }, T0);
    return [
      { name: 'acme', pending_digest: 'sha256:acme', is_approved: 0 },
      { name: 'beta', pending_digest: 'sha256:beta', is_approved: 1 },
    ];
  },
  async 'When was a name first seen and last seen, and who created and deleted it?'(store) {
    const create = operation({ name: 'Kubernetes' });
    const entry = { remoteId: 'k', name: 'Kubernetes' };
    await run(store, { n: 1, operations: [create], results: [result(1, { entry })] });
    for (const n of [2, 3]) {
      const id = await store.begin(n, { atMs: T0 + n * DAY_MS, remote: 'acme' });
      await store.record(id, { skill: [listed('k', 'Kubernetes')] }, { remoteAccountId: 'acme' });
      await store.end(id);
    }
    const id = await run(store, { n: 4, operations: [remove('Kubernetes', 'k')], results: [result(1)] });
    return [
      {
        account: 'acme',
        kind: 'skill',
        remote_id: 'k',
        name: 'Kubernetes',
        first_seen: iso(T0 + 2 * DAY_MS),
        last_seen: iso(T0 + 3 * DAY_MS),
        created_by_rolecall: 1,
        deleted_by_run: id,
      },
    ];
  },
  async 'Which entries does rolecall own?'(store) {
    const entry = { remoteId: 'r', name: 'Rust' };
    await run(store, { n: 1, operations: [operation({ name: 'Rust' })], results: [result(1, { entry })] });
    const lease = await store.take(runId(2));
    const id = await store.begin(2, { remote: 'acme' });
    await store.record(id, { skill: [listed('g', 'Go'), listed('z', 'Zig')] }, { remoteAccountId: 'acme' });
    const applied = {
      runId: id,
      remoteAccountId: 'acme',
      named: ['skill:g'] as const,
      released: [],
      commit: null,
    };
    await store.journal.rememberApplied(lease, applied);
    return [
      { account: 'acme', kind: 'skill', name: 'Go', how: 'adopted' },
      { account: 'acme', kind: 'skill', name: 'Rust', how: 'created' },
    ];
  },
  async 'Which names did the service change?'(store) {
    const entry = { remoteId: 'r', name: 'RUST' };
    await run(store, { n: 1, operations: [operation({ name: 'Rust' })], results: [result(1, { entry })] });
    return [{ account: 'acme', kind: 'skill', requested_name: 'Rust', name: 'RUST', remote_id: 'r' }];
  },
  async 'How many entries were deleted on each day?'(store) {
    const operations = [remove('A', 'a'), remove('B', 'b'), operation({ name: 'C' })];
    await run(store, { n: 1, operations, results: [1, 2, 3].map((seq) => result(seq)) });
    const later = T0 + DAY_MS;
    const again = { operations: [remove('D', 'd')], results: [result(1, { atMs: later })] };
    await run(store, { n: 2, atMs: later, account: 'beta', ...again });
    return [
      { day: '2026-03-10', account: 'acme', deletes: 2 },
      { day: '2026-03-11', account: 'beta', deletes: 1 },
    ];
  },
  async 'Which commit was applied, and when?'(store) {
    const id = await run(store, { n: 1, operations: [operation()], results: [result(1)] });
    const other = await run(store, { n: 2, atMs: T0 + 1000 });
    store.execute('update runs set config_commit = ? where id in (?, ?)', 'c0ffee', id, other);
    store.execute("update runs set mode = 'approve' where id = ?", id);
    await run(store, { n: 3 });
    return [{ account: 'acme', config_commit: 'c0ffee', first_run: iso(T0), created: 1, deleted: 0 }];
  },
  async 'Which accounts are paused, or have not succeeded since Monday?'(store) {
    const atMs = T0;
    await run(store, { n: 1, atMs });
    await run(store, { n: 2, atMs, account: 'beta' });
    await store.operator.pause('beta', 'maintenance', { name: 'sam', via: 'cli' }, T0);
    await run(store, { n: 3, atMs: T0 - 7 * DAY_MS, account: 'gamma' });
    await run(store, { n: 4, atMs, account: 'gamma', status: 'failed' });
    return [
      { name: 'beta', paused: 1, consecutive_failures: 0, last_success: iso(atMs + 1000) },
      { name: 'gamma', paused: 0, consecutive_failures: 1, last_success: iso(T0 - 7 * DAY_MS + 1000) },
    ];
  },
  async 'How did the number of entries and people change?'(store) {
    for (const [n, names] of [['A'], ['A', 'B']].entries()) {
      const id = await store.begin(n + 1);
      await store.record(id, { skill: names.map((name) => listed(name, name)) });
    }
    const day = '2026-03-10';
    return [
      { day, kind: 'resource', most: 0, fewest: 0 },
      { day, kind: 'role', most: 0, fewest: 0 },
      { day, kind: 'skill', most: 2, fewest: 1 },
    ];
  },
};

const COLUMNS =
  ENGINE === 'sqlite'
    ? 'select name from pragma_table_info(?)'
    : 'select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = ?';

describe('the README of the store', () => {
  it('has at least ten queries, and each one has an expected answer here', () => {
    expect([...QUERIES.keys()]).toEqual(Object.keys(ANSWERS));
    expect(QUERIES.size).toBeGreaterThanOrEqual(10);
  });

  it.each(Object.entries(ANSWERS))('answers: %s', async (question, makeHistory) => {
    const store = await fixture();
    const expected = await makeHistory(store);
    expect(store.rows(QUERIES.get(question) ?? '')).toEqual(expected);
  });

  it('lists only tables and columns that exist', async () => {
    const store = await fixture();
    const sections = [...README.matchAll(/^### `(\w+)`[^\n]*\n([\s\S]*?)(?=^##)/gm)];
    expect(sections.map(([, table]) => table)).toEqual([
      'runs',
      'operations',
      'snapshots',
      'entries',
      'accounts',
      'operator_actions',
    ]);
    for (const [, table = '', text = ''] of sections) {
      const rows = text.split('\n').filter((line) => line.startsWith('| `'));
      const columns = rows.flatMap((line) =>
        [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
      );
      const existing = store.rows<{ name: string }>(COLUMNS, table);
      expect(existing.map(({ name }) => name)).toEqual(expect.arrayContaining(columns));
      expect(columns.length).toBeGreaterThan(5);
    }
  });

  it('shows how to write a moment in the format of the store', async () => {
    const store = await fixture();
    const engine = ENGINE === 'sqlite' ? 'SQLite' : 'PostgreSQL';
    const moment = new RegExp(`^\\| ${engine} +\\| \`([^\`]+)\``, 'm').exec(README)?.[1] ?? '';
    const [row] = store.rows<{ at: string }>(`select ${moment} as at`);
    expect(row?.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Math.abs(Date.parse(row?.at ?? '') - (Date.now() - 7 * DAY_MS))).toBeLessThan(60_000);
  });

  it('states correctly that a dry run has a plan but no operations', async () => {
    const store = await fixture();
    const id = await store.begin(1, { mode: 'plan' });
    await store.journal.recordPlan(id, plan({ skills: ['Go'] }));
    await store.end(id, 'planned');
    const detail = await store.reader.run(runId(1));
    expect(detail?.plan?.operations).toHaveLength(1);
    expect(detail?.operations).toEqual([]);
  });

  it('states correctly that a body is the list of its digest, compressed with gzip', async () => {
    const store = await fixture();
    const id = await store.begin(1);
    await store.record(id, { resources: [{ ...person('p1', ['k']), raw: { _id: 'p1', skillsIds: ['k'] } }] });
    const [row] = store.rows<{ body: Uint8Array }>(
      `select body from snapshot_bodies where digest = (
        select digest from snapshots where account = 'acme' and kind = 'resource')`,
    );
    expect(JSON.parse(gunzipSync(row?.body ?? '').toString())).toEqual([{ _id: 'p1', skillsIds: ['k'] }]);
  });
});
