// Killed at any moment: twenty times, each at another request, then one more run.
import { expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { makeWorkspace, until, type Workspace, writeAccount } from '../support/workspace.ts';

type LoggedRequest = ReturnType<Sandbox['requests']>[number];

/**
 * The Nth request of a method; `effect`: when the service has executed it and not answered yet; otherwise when it has
 * answered.
 */
interface Moment {
  readonly method: string;
  readonly nth: number;
  readonly at: 'effect' | 'answer';
}

const KILLS = 20;
const CREATES = 110;
const DELETES = 110;
const LATENCY_MS = 6;
const API = '{ concurrency: 4, requestsPerSecond: 1000, timeout: 900ms, settle: 1s }';
const POLICY = 'policy: { maxDeletes: 1000, maxDeletesPerDay: 1000, maxDeletePercent: 100 }';

const numbered = (what: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${what} ${index}`);

/** Skills to create and to delete, an entry in use that is not in the file, a used rename and an unused one. */
async function startAccount(): Promise<Sandbox> {
  const skills = ['Kept', 'Perl', 'K8s', 'Postgres', ...numbered('Gone', DELETES)];
  return await startSandbox({
    seed: {
      accounts: [
        {
          name: 'acme',
          token: 'token-of-acme',
          skills,
          roles: ['Clerk', 'Designer'],
          resources: [{ role: 'Designer', skills: ['Kept', 'Perl', 'K8s'] }],
        },
      ],
      settings: { latencyMs: LATENCY_MS },
    },
  });
}

const ACCOUNT = [
  POLICY,
  `skills: ${JSON.stringify(['Kept', ...numbered('New', CREATES)]).slice(0, -1)}, { name: Kubernetes, formerly: [K8s] }, { name: PostgreSQL, formerly: [Postgres] }]`,
  'roles: [Designer, Engineer]',
].join('\n');

const EXPECTED = {
  skills: ['K8s', 'Kept', 'Kubernetes', 'Perl', 'PostgreSQL', ...numbered('New', CREATES)].toSorted(),
  roles: ['Designer', 'Engineer'],
};

/** The first kills fall into the creates and the later ones into the deletes; every fifth into reading. */
function momentOf(kill: number, sandbox: Sandbox): Moment {
  const at = kill % 2 === 0 ? 'effect' : 'answer';
  if (kill % 5 === 4) return { method: 'GET', nth: 1 + (kill % 7), at: 'answer' };
  const created = sandbox.state('acme').skills.filter(({ name }) => name.startsWith('New ')).length;
  return { method: created < CREATES - 30 && kill < 11 ? 'POST' : 'DELETE', nth: 1 + ((kill * 3) % 7), at };
}

/** Starts an apply and kills it at the moment. Resolves with all requests that it sent. */
async function killAt(
  moment: Moment,
  workspace: Workspace,
  sandbox: Sandbox,
): Promise<readonly LoggedRequest[]> {
  sandbox.clearRequests();
  const running = workspace.start(['apply', '--yes', '--accept-no-history']);
  const seen = (): number =>
    sandbox
      .requests()
      .filter(({ method }) => method === moment.method)
      .filter(({ effect, status }) => (moment.at === 'effect' ? effect : status !== null)).length;
  await new Promise<void>((resolve) => {
    const poll = (): void => {
      if (seen() < moment.nth && running.process.exitCode === null) return void setImmediate(poll);
      running.process.kill('SIGKILL');
      resolve();
    };
    poll();
  });
  const { signal, stdout, stderr } = await running.ended;
  expect({ signal, moment, stdout, stderr }).toMatchObject({ signal: 'SIGKILL' });
  // Requests that have arrived still take effect, and the next run must find that.
  await until('the service has nothing under way', () =>
    sandbox.requests().every(({ status, effect }) => status !== null || effect),
  );
  return sandbox.requests();
}

function isWrite({ method }: LoggedRequest): boolean {
  return method !== 'GET';
}

/** The operation of a request: a create is identified by its name, a delete by its id. */
function requestKey({ method, path, name }: LoggedRequest): string {
  const [, kind, id] = /\/(skill|role)(?:\/(.+))?$/.exec(path) ?? [];
  return `${method === 'POST' ? 'create' : 'delete'} ${kind} ${method === 'POST' ? name : id}`;
}

function rowKey({ action, kind, name, remote_id }: Row): string {
  return `${action} ${kind} ${action === 'create' ? name : remote_id}`;
}

function countOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

interface Row {
  readonly action: string;
  readonly kind: string;
  readonly name: string;
  readonly remote_id: string | null;
  readonly status: string;
  readonly settled_by: string | null;
}

test(
  'an apply that is killed twenty times leaves no duplicate, no lost row and the right catalog',
  {
    timeout: 120_000,
  },
  async () => {
    const sandbox = await startAccount();
    try {
      const workspace = makeWorkspace('token-of-acme');
      writeAccount(workspace, sandbox.url, ACCOUNT, { api: API });
      const log: LoggedRequest[] = [];
      for (let kill = 0; kill < KILLS; kill += 1) {
        log.push(...(await killAt(momentOf(kill, sandbox), workspace, sandbox)));
      }
      const killed = log.filter(({ effect }) => effect);
      expect(new Set(killed.map(({ method }) => method))).toEqual(new Set(['POST', 'DELETE']));

      sandbox.clearRequests();
      const last = await workspace.run(['apply', '--yes', '--accept-no-history', '--format', 'json']);
      log.push(...sandbox.requests());
      expect(last.stderr).toBe('');
      expect(JSON.parse(last.stdout)).toMatchObject([{ status: 'held', held: 2, failed: 0 }]);
      expect(last.status).toBe(3);

      const { skills, roles } = sandbox.state('acme');
      expect(skills.map(({ name }) => name).toSorted()).toEqual(EXPECTED.skills);
      expect(roles.map(({ name }) => name).toSorted()).toEqual(EXPECTED.roles);

      const runs = workspace.rows<{ status: string }>('select status from runs order by id');
      expect(runs.map(({ status }) => status)).toEqual([
        ...numbered('', KILLS).map(() => 'interrupted'),
        'held',
      ]);

      const operations = workspace.rows<Row>('select * from operations');
      expect(operations.filter(({ status }) => status === 'pending' || status === 'sent')).toEqual([]);
      const unsettled = operations.filter((row) => row.status === 'unknown' && row.settled_by === null);
      expect(unsettled).toEqual([]);
      const effects = log.filter(({ effect }) => effect);
      const tried = operations.filter(({ status }) => status === 'done' || status === 'unknown');
      // A row may belong to a request that was never sent, but every request must have a row.
      const rows = countOf(tried.map(rowKey));
      const lost = [...countOf(log.filter(isWrite).map(requestKey))].filter(
        ([what, requests]) => (rows.get(what) ?? 0) < requests,
      );
      expect(lost).toEqual([]);
      const creates = effects.filter(({ method }) => method === 'POST').length;
      expect(operations.filter((row) => row.action === 'create' && row.status === 'done')).toHaveLength(
        creates,
      );
      expect(workspace.rows('select * from entries where created_by_run is not null')).toHaveLength(creates);
      const gone = effects.length - creates;
      expect(workspace.rows('select * from entries where deleted_by_run is not null')).toHaveLength(gone);
      expect(workspace.rows('select * from locks')).toEqual([]);
    } finally {
      await sandbox.close();
    }
  },
);
