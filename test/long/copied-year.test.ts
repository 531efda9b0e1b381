// A store with a year of history is copied from SQLite to PostgreSQL and back: the same rows, and the same answers of the
// commands, the pages and the API. It makes 30,000 rows: 13 for each of
// ROLECALL_YEAR_ACCOUNTS accounts and ROLECALL_YEAR_DAYS days.
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { COPIED_TABLES } from '../../src/store/copy/copied-tables.ts';
import { HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { freshPostgres, hasPostgres, queryPostgres } from '../support/postgres.ts';
import { scene, type Scene } from '../support/scene.ts';
import { simulateYear } from '../support/simulated-year.ts';
import { table } from '../support/table.ts';
import { until } from '../support/workspace.ts';

const ACCOUNTS = Array.from(
  { length: Number(process.env['ROLECALL_YEAR_ACCOUNTS'] ?? 6) },
  (_, index) => `acct-${index}`,
);
const DAYS = Number(process.env['ROLECALL_YEAR_DAYS'] ?? 365);
const TABLES = COPIED_TABLES.map(({ name }) => name);

type Row = Readonly<Record<string, unknown>>;
type Query = (statement: string) => Promise<readonly Row[]>;

interface TableContent {
  readonly rows: number;
  readonly digest: string;
}

/** The content of each table, as text, whatever the engine's types of numbers are. */
async function contentOf(query: Query): Promise<Readonly<Record<string, TableContent>>> {
  const contents: [string, TableContent][] = [];
  for (const name of TABLES) {
    const [order] = COPIED_TABLES.flatMap((each) => (each.name === name && each.hasRowid ? ['rowid'] : []));
    const rows = await query(`select ${order === undefined ? '' : `${order}, `}${name}.* from ${name}`);
    contents.push([name, { rows: rows.length, digest: digestOf(rows) }]);
  }
  return Object.fromEntries(contents);
}

function digestOf(rows: readonly Row[]): string {
  const texts = rows.map((row) =>
    JSON.stringify(
      Object.entries(row)
        .map(([column, value]) => [column, textOf(value)])
        .toSorted(([a = ''], [b = '']) => (String(a) < String(b) ? -1 : 1)),
    ),
  );
  const hash = createHash('sha256');
  for (const text of texts.toSorted()) hash.update(text).update('\n');
  return hash.digest('hex');
}

function textOf(value: unknown): string | null {
  if (value === null) return null;
  if (Buffer.isBuffer(value)) return value.toString('hex');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The commands whose answers are compared. */
function commandsOf(runs: readonly string[]): string[][] {
  return [
    ['history', '--limit', '500'],
    ['history', '--limit', '500', '--format', 'json'],
    ['history', 'acct-1', '--format', 'markdown'],
    ...runs.map((run) => ['show', run]),
    ...runs.slice(0, 2).map((run) => ['show', run, '--format', 'json']),
    ['who', 'Skill 0 of acct-1 since day 5', '--format', 'json'],
    ['who', 'Lead'],
    ['status'],
    ['status', '--format', 'json'],
    ['snapshots', '--limit', '500'],
    ['snapshots', 'acct-2', '--format', 'json', '--limit', '100'],
  ];
}

function pathsOf(runs: readonly string[]): { readonly pages: string[]; readonly api: string[] } {
  const accounts = ['accounts/acct-0', 'accounts/acct-1'];
  const ofRuns = runs.map((run) => `runs/${run}`);
  return {
    pages: ['', ...accounts, ...ofRuns].map((path) => `/${path}`),
    api: ['accounts', 'runs?limit=100', ...accounts, ...ofRuns].map((path) => `/api/v1/${path}`),
  };
}

/** The page without what belongs to a process: when it was started, its replicas, and numbers that are used once. */
function withoutProcess(text: string): string {
  return text
    .replaceAll(/nonce="[^"]*"/gu, 'nonce')
    .replaceAll(/started <time[^]*?<\/time>/gu, 'started')
    .replaceAll(/<section><h2>Replicas<\/h2>[^]*?<\/section>/gu, '');
}

/** The answers of the commands and of a daemon, by what was requested. */
async function answersOf(on: Scene, runs: readonly string[], env: Readonly<Record<string, string>>) {
  const answers: Record<string, string> = {};
  for (const args of commandsOf(runs)) {
    const { status, stdout } = await on.run(args, { env });
    answers[args.join(' ')] = `${status} ${stdout}`;
  }
  const daemon = await startDaemon(on, { env });
  await until('the schedules are stored', async () => {
    const { body } = await daemon.api<{ accounts: readonly { nextRunAt: string | null }[] }>('accounts');
    return body.accounts.every(({ nextRunAt }) => nextRunAt !== null);
  });
  const headers = { authorization: `Bearer ${HTTP_TOKEN}` };
  const { pages, api } = pathsOf(runs);
  for (const path of [...pages, ...api]) {
    const reply = await fetch(daemon.url + path, { headers, redirect: 'manual' });
    answers[path] = `${reply.status} ${withoutProcess(await reply.text())}`;
  }
  await daemon.stop();
  return answers;
}

/** Where answers differ: what both had there. */
function differences(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(before).flatMap(([what, was]) => {
    const is = after[what] ?? '';
    if (is === was) return [];
    let at = 0;
    while (was[at] === is[at]) at += 1;
    const part = (text: string): string => text.slice(Math.max(0, at - 60), at + 60);
    return [`${what}: ${part(was)} became ${part(is)}`];
  });
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly seconds: string; readonly value: T }> {
  const startedAt = performance.now();
  const value = await work();
  return { seconds: `${((performance.now() - startedAt) / 1000).toFixed(1)} s`, value };
}

describe.skipIf(!hasPostgres)('copy-store', () => {
  test(
    `moves a year of ${ACCOUNTS.length} accounts to PostgreSQL and back without changing a row or an answer`,
    { timeout: 1_800_000 },
    async () => {
      const { url, schema } = await freshPostgres();
      const env = { ROLECALL_DATABASE_URL: url };
      const on = await scene({
        store: 'sqlite',
        others: ACCOUNTS.map((name) => ({ name, token: `t-${name}` })),
      });
      const lines = `${WITH_TOKEN}\ndaemon: { runOnStart: false }\ndefaults: { schedule: ${ONCE_A_YEAR}, jitter: 0s }`;
      for (const name of ACCOUNTS) on.configure('skills: [Go]', name);
      on.serve({}, lines);
      // Creates the folder and an empty store, which the year replaces.
      on.write('data/.keep', '');
      const baseUrl = on.sandbox.url;
      const made = await timed(() =>
        simulateYear(`${on.folder}/data/rolecall.db`, { accounts: ACCOUNTS, days: DAYS, baseUrl }),
      );
      const ids = on.rows<{ id: string }>('select id from runs order by id').map(({ id }) => id);
      const runs = [0.02, 0.3, 0.7, 0.999].flatMap((part) => ids[Math.floor(ids.length * part)] ?? []);

      const before = {
        answers: await answersOf(on, runs, env),
        content: await contentOf(async (statement) => on.rows<Row>(statement)),
      };
      const there = await timed(() =>
        on.run(['copy-store', 'data/rolecall.db', url, '--to-schema', schema], { env }),
      );
      expect(there.value).toMatchObject({ status: 0, stderr: expect.not.stringContaining('warning') });
      const inPostgres = await contentOf((statement) =>
        queryPostgres(url, statement.replace(/ from /, ` from ${schema}.`)),
      );
      on.serve({}, lines, `{ postgres: { url: { env: ROLECALL_DATABASE_URL }, schema: ${schema} } }`);
      const postgres = await answersOf(on, runs, env);
      const back = await timed(() =>
        on.run(['copy-store', url, 'data/back.db', '--from-schema', schema], { env }),
      );
      expect(back.value).toMatchObject({ status: 0, stderr: expect.not.stringContaining('warning') });
      on.serve({}, lines, '../data/back.db');
      const after = await answersOf(on, runs, env);
      console.log(
        table(
          ['step', 'result'],
          [
            ['made', `${ids.length} runs in ${made.seconds}`],
            ['there', `${there.value.stdout.trim()}: ${there.seconds}`],
            ['back', `${back.value.stdout.trim()}: ${back.seconds}`],
            ...Object.entries(before.content).map(([name, { rows }]) => [name, `${rows} rows`]),
            ['answers', String(Object.keys(before.answers).length)],
          ],
        ),
      );
      expect(inPostgres).toEqual(before.content);
      expect(differences(before.answers, postgres)).toEqual([]);
      expect(differences(before.answers, after)).toEqual([]);
    },
  );
});
