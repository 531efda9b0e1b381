// Three replicas on one PostgreSQL while one after the other is killed or suspended, the database restarts and a
// transaction is frozen. It takes a minute and a half, or ROLECALL_LONG_SECONDS.
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { type Daemon, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { hasPostgres, ownPostgres, type OwnCluster } from '../support/postgres.ts';
import { type RecordingProxy, PROXIED, startProxy } from '../support/recording-proxy.ts';
import { randomNumbers } from '../support/random.ts';
import { scene, type Scene } from '../support/scene.ts';
import { until } from '../support/workspace.ts';

const SECONDS = Number(process.env['ROLECALL_LONG_SECONDS'] ?? 90);
const LEASE_MS = 6000;
const EVERY_MS = 4000;
const ACCOUNTS = Array.from({ length: 12 }, (_, index) => `acct-${index}`);
/** How late a run may be on a busy machine. */
const SLACK_MS = 4000;

interface RunRow {
  readonly account: string;
  readonly trigger: string;
  readonly status: string;
  readonly holder_pid: number;
  readonly startedMs: number;
  readonly finishedMs: number | null;
}

interface Member {
  daemon: Daemon;
  readonly proxy: RecordingProxy;
  /** The processes of this place, in their order; their requests went through the same proxy. */
  readonly pids: number[];
}

interface Stage {
  readonly on: Scene;
  readonly cluster: OwnCluster;
  readonly members: readonly Member[];
  /** Times without a database, or with an account that a transaction keeps locked. */
  readonly outages: { readonly fromMs: number; readonly toMs: number }[];
  /** The names in the file of each account. */
  readonly desired: Map<string, string[]>;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function startMember(stage: Pick<Stage, 'on' | 'cluster'>, proxy: RecordingProxy): Promise<Daemon> {
  return await startDaemon(stage.on, { env: { ...proxy.env, ROLECALL_DATABASE_URL: stage.cluster.url } });
}

async function startStage(): Promise<Stage> {
  const cluster = await ownPostgres();
  const seeds = ACCOUNTS.map((name) => ({ name, token: `token-of-${name}`, resources: [{ id: 'someone' }] }));
  const on = await scene({ store: 'postgres', others: seeds, settings: { latencyMs: 20 } });
  on.serve(
    { timeout: '2s', settle: '2500ms' },
    [
      WITH_TOKEN,
      `daemon: { lease: ${LEASE_MS}ms, maxRuns: 5 }`,
      `defaults: { mode: apply, schedule: "*/${EVERY_MS / 1000} * * * * *", jitter: 0s, policy: { maxDeletes: 10000, maxDeletesPerDay: 100000, maxDeletePercent: 100 } }`,
    ].join('\n'),
  );
  on.configure('mode: plan\nschedule: "0 0 1 1 *"');
  const desired = new Map(ACCOUNTS.map((name) => [name, ['Go']]));
  const parts = { on, cluster, outages: [], desired };
  for (const name of ACCOUNTS) writeFile(parts, name);
  const members: Member[] = [];
  for (let place = 0; place < 3; place += 1) {
    const proxy = await startProxy(on.sandbox.url);
    const daemon = await startMember(parts, proxy);
    members.push({ daemon, proxy, pids: [daemon.process.pid ?? 0] });
  }
  return { ...parts, members };
}

function writeFile({ on, desired }: Pick<Stage, 'on' | 'desired'>, account: string): void {
  const token = `TOKEN_${account.toUpperCase().replaceAll('-', '_')}`;
  on.write(
    `config/accounts/${account}.yaml`,
    `baseUrl: ${PROXIED}\nallowInsecure: true\ntoken: { env: ${token} }\nskills: ${JSON.stringify(desired.get(account))}\n`,
  );
}

/** Adds entries in the service, which rolecall deletes, and names in the files, which it creates. */
async function keepChanging(stage: Stage, isOver: () => boolean): Promise<void> {
  const random = randomNumbers(11);
  for (let turn = 1; !isOver(); turn += 1) {
    const account = ACCOUNTS[Math.floor(random() * ACCOUNTS.length)] ?? 'acct-0';
    if (random() < 0.6) stage.on.sandbox.addSkill(account, `Stray ${turn}`);
    else {
      stage.desired.get(account)?.push(`Skill ${turn}`);
      writeFile(stage, account);
    }
    await pause(150 + random() * 300);
  }
}

async function during(stage: Stage, work: () => Promise<void>): Promise<void> {
  const fromMs = Date.now();
  await work();
  stage.outages.push({ fromMs, toMs: Date.now() });
}

/** What befalls the replicas, one after the other. */
const BLOWS: readonly ((stage: Stage, member: Member) => Promise<void>)[] = [
  async (stage, member) => {
    member.daemon.process.kill('SIGKILL');
    await member.daemon.ended;
    await pause(2000);
    member.daemon = await startMember(stage, member.proxy);
    member.pids.push(member.daemon.process.pid ?? 0);
  },
  async (_stage, member) => {
    member.daemon.process.kill('SIGSTOP');
    await pause(3000);
    member.daemon.process.kill('SIGCONT');
  },
  async (_stage, member) => {
    member.daemon.process.kill('SIGSTOP');
    await pause(3 * LEASE_MS);
    member.daemon.process.kill('SIGCONT');
  },
  async (stage) =>
    during(stage, async () => {
      await stage.cluster.stop();
      await stage.cluster.start();
    }),
  async (stage) =>
    during(stage, async () => {
      await stage.cluster.kill();
      await pause(LEASE_MS * 1.5);
      await stage.cluster.start();
    }),
  async (stage) => during(stage, () => freezeTransaction(stage)),
];

/** Keeps the turns of two accounts locked, as a process does that is suspended within a transaction. */
async function freezeTransaction({ on, cluster }: Stage): Promise<void> {
  const client = new pg.Client({ connectionString: cluster.url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`set search_path to ${schemaOf(on)}; begin`);
  await client.query('select 1 from turns where account in ($1, $2) for update', ['acct-0', 'acct-1']);
  await pause(1.5 * LEASE_MS);
  await client.end().catch(() => undefined);
}

const schemas = new WeakMap<Scene, string>();
function schemaOf(on: Scene): string {
  return schemas.get(on) ?? '';
}

async function rows<T>({ on, cluster }: Stage, statement: string): Promise<readonly T[]> {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  try {
    await client.query(`set search_path to ${schemaOf(on)}`);
    return (await client.query(statement)).rows as T[];
  } finally {
    await client.end();
  }
}

async function runsOf(stage: Stage): Promise<readonly RunRow[]> {
  return await rows<RunRow>(
    stage,
    `select account, trigger, status, holder_pid,
       (extract(epoch from started_at::timestamptz) * 1000)::float8 as "startedMs",
       (extract(epoch from finished_at::timestamptz) * 1000)::float8 as "finishedMs"
     from runs where account like 'acct-%' order by started_at`,
  );
}

/** Requests of a replica for an account while a run of another replica was in progress. */
function overlaps({ members }: Stage, runs: readonly RunRow[]): string[] {
  return runs.flatMap((run) => {
    const owner = members.findIndex(({ pids }) => pids.includes(run.holder_pid));
    const endMs = run.finishedMs ?? Infinity;
    return members.flatMap(({ proxy }, place) =>
      place === owner
        ? []
        : proxy.requests
            .filter(({ token }) => token === `token-of-${run.account}`)
            .filter(({ atMs }) => atMs > run.startedMs && atMs < endMs && run.status !== 'interrupted')
            .map(
              ({ method, atMs }) => `${run.account}: ${method} of ${place} at ${atMs} in a run of ${owner}`,
            ),
    );
  });
}

/** Accounts with several scheduled runs between two of their ticks. */
function repeatedTicks(runs: readonly RunRow[]): string[] {
  const seen = new Set<string>();
  return runs
    .filter(({ trigger }) => trigger === 'schedule' || trigger === 'catch_up')
    .map(({ account, startedMs }) => `${account} ${Math.floor(startedMs / EVERY_MS)}`)
    .filter((tick) => seen.size === seen.add(tick).size);
}

/** The longest time without a run of an account, outages not counted. */
function longestGap(
  { outages }: Stage,
  runs: readonly RunRow[],
): { readonly ms: number; readonly where: string } {
  let longest = { ms: 0, where: '' };
  for (const account of ACCOUNTS) {
    const starts = runs.filter((run) => run.account === account).map(({ startedMs }) => startedMs);
    for (const [index, fromMs] of starts.slice(0, -1).entries()) {
      const toMs = starts[index + 1] ?? fromMs;
      const lost = outages
        .map((outage) => Math.min(toMs, outage.toMs) - Math.max(fromMs, outage.fromMs))
        .reduce((sum, ms) => sum + Math.max(0, ms), 0);
      if (toMs - fromMs - lost > longest.ms)
        longest = { ms: toMs - fromMs - lost, where: `${account} at ${new Date(fromMs).toISOString()}` };
    }
  }
  return longest;
}

describe.skipIf(!hasPostgres)('three replicas', () => {
  test(
    `run each account on one of them at a time, whatever befalls them for ${SECONDS} s`,
    { timeout: (SECONDS + 150) * 1000 },
    async () => {
      const stage = await startStage();
      const { on, members, desired } = stage;
      const service = await import('node:fs').then(({ readFileSync }) =>
        readFileSync(`${on.folder}/config/rolecall.yaml`, 'utf8'),
      );
      schemas.set(on, /schema: (\w+)/.exec(service)?.[1] ?? '');
      await until('accounts run', async () => (await runsOf(stage)).length > 10);
      const endsAtMs = Date.now() + SECONDS * 1000;
      const isOver = (): boolean => Date.now() > endsAtMs;
      const changing = keepChanging(stage, isOver);
      for (let blow = 0; !isOver(); blow += 1) {
        const member = members[blow % members.length];
        if (member !== undefined) await BLOWS[blow % BLOWS.length]?.(stage, member);
        await pause(LEASE_MS + EVERY_MS);
      }
      await changing;
      await until('every account matches its file', () =>
        ACCOUNTS.every((name) => on.names(name).skills.join() === desired.get(name)?.toSorted().join()),
      );
      const late = await runsOf(stage);
      for (const { daemon } of members) await daemon.stop();
      const runs = await runsOf(stage);
      const gap = longestGap(stage, late);
      const lost = members.flatMap(({ daemon }) => daemon.events('replica_lost')).length;
      console.log(
        JSON.stringify({
          runs: runs.length,
          longestGapMs: Math.round(gap.ms),
          at: gap.where,
          lost,
          outages: stage.outages.length,
        }),
      );

      for (const { proxy } of members) expect(proxy.requests.length).toBeGreaterThan(SECONDS);
      expect(overlaps(stage, runs)).toEqual([]);
      expect(repeatedTicks(runs)).toEqual([]);
      expect(gap.ms, gap.where).toBeLessThan(LEASE_MS + EVERY_MS + SLACK_MS);
      expect(runs.filter(({ status }) => status === 'running')).toEqual([]);
      for (const name of ACCOUNTS) {
        const { skills } = on.sandbox.state(name);
        expect(new Set(skills.map((skill) => skill.name)).size, name).toBe(skills.length);
      }
      const effects = on.sandbox.requests().filter(({ effect, method }) => effect && method !== 'GET');
      const twice = effects
        .map(({ account, method, name }) => `${account} ${method} ${name}`)
        .filter((write, index, all) => all.indexOf(write) !== index);
      expect(twice).toEqual([]);
      expect(effects.length).toBeGreaterThan(SECONDS / 2);
      const open = `select run_id from operations where status in ('sent', 'pending')`;
      expect(await rows(stage, open)).toEqual([]);
      expect(await rows(stage, 'select account from locks')).toEqual([]);
      for (const { daemon } of members)
        expect(daemon.output().stderr).not.toMatch(/bug in rolecall|token-of-/);
    },
  );
});
