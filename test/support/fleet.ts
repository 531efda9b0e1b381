// Several daemons on one store, each behind a proxy that records its requests, with many accounts that change all the
// time: in the service, which rolecall undoes, and in their files, which it applies.
import { join } from 'node:path';
import type { LoggedRequest } from '../../src/sandbox/sandbox.ts';
import { type Daemon, startDaemon, WITH_TOKEN } from './daemon.ts';
import { commitAll, git } from './git.ts';
import { ownPostgres, type OwnCluster, queryPostgres } from './postgres.ts';
import { pick, randomNumbers } from './random.ts';
import { PROXIED, type RecordingProxy, startProxy } from './recording-proxy.ts';
import { scene, type Scene, tokenVariable } from './scene.ts';
import { clockAhead, until } from './workspace.ts';

export interface FleetOptions {
  readonly accounts: number;
  /** Seconds between two ticks of an account; a divisor of 60. */
  readonly everySeconds: number;
  /** The number of daemons. */
  readonly members: number;
  /** At least that of the daemons, which is 10 s. */
  readonly leaseMs: number;
  /** The rest after each disturbance, in which the daemons return to their usual state. */
  readonly restMs: number;
  readonly store: 'sqlite' | 'postgres';
  /** How much later the last daemon receives each commit; 0: all read the same folder, without git. */
  readonly behindMs: number;
  /** How much the clock of each daemon is ahead of that of the one before it. */
  readonly clocksApartMs?: number;
  /** More variables of each daemon. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A place for a daemon: when its process is killed, the next one uses the same proxy. */
export interface Member {
  readonly place: number;
  readonly proxy: RecordingProxy;
  daemon: Daemon;
  /** The processes of this place, in their order. */
  readonly pids: number[];
  start(): Promise<void>;
}

export interface Fleet {
  readonly options: FleetOptions;
  readonly on: Scene;
  /** The database of the fleet; null with SQLite. */
  readonly cluster: OwnCluster | null;
  readonly members: readonly Member[];
  readonly accounts: readonly string[];
  /** The names in the file of each account. */
  readonly desired: ReadonlyMap<string, string[]>;
  /** The commits of the configuration, and the account that each of them changed. */
  readonly commits: { readonly id: string; readonly account: string | null }[];
  /** The creates and deletes that took effect. */
  readonly effects: readonly LoggedRequest[];
  rows<T>(statement: string): Promise<readonly T[]>;
  /** The schema of the store in its database. */
  readonly schema: string;
}

/** What was committed must survive a kill of the server; the disk of its machine does not fail. */
const SURVIVES_KILL = { synchronous_commit: 'on' };
const POLICY = '{ maxDeletes: 10000, maxDeletePercent: 100 }';

/** A file that has more names loses its oldest one with each change, so that accounts do not grow. */
const MOST_NAMES = 12;

/** So many changes follow each other, and then none for longer than the daemons wait before they use changed files. */
const TURNS_TO_QUIET = 20;
const QUIET_MS = 6000;

export const tokenOf = (account: string): string => `token-of-${account}`;
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when every account has run. Everything of the fleet ends with the test. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const accounts = Array.from({ length: options.accounts }, (_, index) => `acct-${index}`);
  const cluster = options.store === 'postgres' ? await ownPostgres({ settings: SURVIVES_KILL }) : null;
  const effects: LoggedRequest[] = [];
  const on = await scene({
    store: 'sqlite',
    others: accounts.map((name) => ({ name, token: tokenOf(name), resources: [{ id: 'someone' }] })),
    settings: { latencyMs: 20 },
    log(request) {
      if (request.effect) effects.push(request);
    },
  });
  const schema = 'rolecall_fleet';
  const place = `{ postgres: { url: { env: ROLECALL_DATABASE_URL }, schema: ${schema} } }`;
  on.serve(
    { timeout: '4s', settle: '4500ms' },
    [
      WITH_TOKEN,
      `defaults: { mode: apply, schedule: "*/${options.everySeconds} * * * * *", policy: ${POLICY} }`,
    ].join('\n'),
    ...(cluster === null ? [] : [place]),
  );
  on.configure('mode: plan\nschedule: "0 0 1 1 *"');
  const parts = {
    options,
    on,
    cluster,
    accounts,
    desired: new Map(accounts.map((name) => [name, ['Go']])),
    commits: [],
    effects,
    schema,
    async rows<T>(statement: string): Promise<readonly T[]> {
      if (cluster === null) return on.rows<T>(statement);
      const qualified = statement.replaceAll(/\b(from|join) /g, `$1 ${schema}.`);
      return (await queryPostgres(cluster.url, qualified)) as readonly T[];
    },
  };
  for (const name of accounts) writeAccountFile(parts, name);
  const clone = options.behindMs === 0 ? null : makeClone(parts);
  const members: Member[] = [];
  for (let index = 0; index < options.members; index += 1) {
    const isLast = index === options.members - 1;
    members.push(await startMember(parts, index, isLast ? clone : null));
  }
  const fleet = { ...parts, members };
  await until(
    'every account has run',
    async () => (await accountsThatRan(fleet)) >= accounts.length,
    120_000,
  );
  return fleet;
}

async function accountsThatRan(fleet: Fleet): Promise<number> {
  const rows = await fleet.rows<{ account: string }>(
    `select distinct account from runs where finished_at is not null and account like 'acct-%'`,
  );
  return rows.length;
}

async function startMember(
  fleet: Pick<Fleet, 'on' | 'cluster' | 'options'>,
  place: number,
  folder: string | null,
): Promise<Member> {
  const proxy = await startProxy(fleet.on.sandbox.url);
  const aheadMs = place * (fleet.options.clocksApartMs ?? 0);
  const env = {
    ...proxy.env,
    ...fleet.options.env,
    ...clockAhead(aheadMs),
    ...(fleet.cluster === null ? {} : { ROLECALL_DATABASE_URL: fleet.cluster.url }),
  };
  const from = folder === null ? fleet.on : { start: startIn(fleet.on, folder) };
  const startProcess = async (): Promise<Daemon> => await startDaemon(from, { env });
  const daemon = await startProcess();
  const member: Member = {
    place,
    proxy,
    daemon,
    pids: [daemon.process.pid ?? 0],
    async start() {
      member.daemon = await startProcess();
      member.pids.push(member.daemon.process.pid ?? 0);
    },
  };
  return member;
}

/** Starts the program with the configuration of another folder, such as a clone. */
export function startIn(on: Pick<Scene, 'start'>, folder: string): Scene['start'] {
  return (args, given) =>
    on.start(['--config', join(folder, 'config/rolecall.yaml'), ...args], { ...given, withoutConfig: true });
}

function writeAccountFile({ on, desired }: Pick<Fleet, 'on' | 'desired'>, account: string): void {
  const names = JSON.stringify(desired.get(account));
  on.write(
    `config/accounts/${account}.yaml`,
    `baseUrl: ${PROXIED}\nallowInsecure: true\ntoken: { env: ${tokenVariable(account)} }\nskills: ${names}\n`,
  );
}

function makeClone({ on, commits }: Pick<Fleet, 'on' | 'commits'>): string {
  on.write('.gitignore', '*\n!config\n!config/**\n*.new\n');
  git(on.folder, ['init', '--quiet']);
  commits.push({ id: commitAll(on.folder, 'First'), account: null });
  const clone = join(on.folder, 'clone');
  git(on.folder, ['clone', '--quiet', '.', clone]);
  return clone;
}

/** Changes accounts until the end, and resolves when the last daemon has every commit. */
export async function keepChanging(fleet: Fleet, isOver: () => boolean): Promise<void> {
  const { on, desired, options } = fleet;
  const random = randomNumbers(11);
  const late: Promise<void>[] = [];
  for (let turn = 1; !isOver(); turn += 1) {
    const account = pick(random, fleet.accounts) ?? '';
    if (random() < 0.6) on.sandbox.addSkill(account, `Stray ${turn}`);
    else {
      const names = desired.get(account) ?? [];
      names.push(`Skill ${turn}`);
      if (names.length > MOST_NAMES) names.shift();
      writeAccountFile(fleet, account);
      if (options.behindMs > 0) {
        const subject = `Change ${account}`;
        git(on.folder, ['add', 'config']);
        git(on.folder, ['commit', '--quiet', '-m', subject], new Date().toISOString());
        fleet.commits.push({ id: git(on.folder, ['rev-parse', 'HEAD']), account });
        late.push(pullLater(fleet));
      }
    }
    // Without git, nothing tells content that changes all the time from content that is older.
    const isQuiet = options.behindMs === 0 && turn % TURNS_TO_QUIET === 0;
    await pause(isQuiet ? QUIET_MS : 150 + random() * 300);
  }
  await Promise.all(late);
}

async function pullLater({ on, options }: Fleet): Promise<void> {
  await pause(options.behindMs);
  git(join(on.folder, 'clone'), ['pull', '--quiet', '--ff-only']);
}

/** Resolves when the service has what the files say, of every account. */
export async function untilMatched({ on, accounts, desired }: Fleet, limitMs: number): Promise<void> {
  const isMatched = (name: string): boolean =>
    on.names(name).skills.join() === desired.get(name)?.toSorted().join();
  // Those that do not match are reported by the checks.
  await until('every account matches its file', () => accounts.every(isMatched), limitMs).catch(
    () => undefined,
  );
}
