// What disturbs the daemons of a fleet: kills, suspensions, and what happens to their database.
import pg from 'pg';
import { type Fleet, type Member, pause } from './fleet.ts';

/** A time in which some accounts could not run, whatever a daemon does. */
export interface Outage {
  readonly what: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** null: all of them. */
  readonly accounts: readonly string[] | null;
}

export interface Suspension {
  /** The place of the process. */
  readonly place: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Disturbances {
  /** How often each of them happened, by its name. */
  readonly counts: Map<string, number>;
  readonly outages: Outage[];
  readonly suspensions: Suspension[];
}

export type Disturbance = (fleet: Fleet, member: Member, log: Disturbances) => Promise<void>;

export function noDisturbances(): Disturbances {
  return { counts: new Map(), outages: [], suspensions: [] };
}

function count({ counts }: Disturbances, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** Kills or stops the process at once, or at the moment in which a create or a delete of it is on its way. */
async function strike(
  { process: child }: Member['daemon'],
  signal: 'SIGKILL' | 'SIGSTOP',
  during: { readonly proxy: Member['proxy']; readonly limitMs: number } | null,
): Promise<string | null> {
  if (during === null) {
    child.kill(signal);
    return null;
  }
  const { proxy, limitMs } = during;
  const token = await new Promise<string | null>((resolve) => {
    const timer = setTimeout(() => resolve(null), limitMs);
    proxy.onRequest = ({ method, token: of }) => {
      if (method === 'GET') return;
      child.kill(signal);
      clearTimeout(timer);
      resolve(of);
    };
  });
  proxy.onRequest = null;
  if (token === null) child.kill(signal);
  return token?.replace('token-of-', '') ?? null;
}

function duringWrite({ options }: Fleet, { proxy }: Member, isDuringWrite: boolean) {
  return isDuringWrite ? { proxy, limitMs: options.restMs } : null;
}

function named(what: string, account: string | null): string {
  return account === null ? what : `${what} during a write`;
}

export function killed(isDuringWrite: boolean): Disturbance {
  return async (fleet, member, log) => {
    const account = await strike(member.daemon, 'SIGKILL', duringWrite(fleet, member, isDuringWrite));
    count(log, named('killed', account));
    await member.daemon.ended;
    await pause(2000);
    await member.start();
  };
}

export function suspended(ms: number, isDuringWrite: boolean): Disturbance {
  return async (fleet, member, log) => {
    const account = await strike(member.daemon, 'SIGSTOP', duringWrite(fleet, member, isDuringWrite));
    const fromMs = Date.now();
    count(log, named(`suspended for ${Math.round(ms / 1000)} s`, account));
    await pause(ms);
    const toMs = Date.now();
    member.daemon.process.kill('SIGCONT');
    log.suspensions.push({ place: member.place, fromMs, toMs });
  };
}

/** Suspends the process during a write, for three leases, and resumes it while its successor runs the same account. */
export function resumedDuringSuccessor(ms: number): Disturbance {
  return async (fleet, member, log) => {
    const account = await strike(member.daemon, 'SIGSTOP', duringWrite(fleet, member, true));
    const fromMs = Date.now();
    await pause(ms);
    const others = fleet.members.filter((other) => other !== member);
    const toMs = await new Promise<number | null>((resolve) => {
      const timer = setTimeout(() => resolve(null), 2 * fleet.options.everySeconds * 1000);
      for (const { proxy } of others)
        proxy.onRequest = ({ token, atMs }) => {
          if (account !== null && token !== `token-of-${account}`) return;
          member.daemon.process.kill('SIGCONT');
          clearTimeout(timer);
          resolve(atMs);
        };
    });
    for (const { proxy } of others) proxy.onRequest = null;
    log.suspensions.push({ place: member.place, fromMs, toMs: toMs ?? Date.now() });
    member.daemon.process.kill('SIGCONT');
    count(log, toMs !== null ? 'resumed during the run of a successor' : 'resumed, no successor ran');
  };
}

async function during(log: Disturbances, of: Pick<Outage, 'what' | 'accounts'>, work: () => Promise<void>) {
  const fromMs = Date.now();
  await work();
  log.outages.push({ ...of, fromMs, toMs: Date.now() });
  count(log, of.what);
}

/** Restarts the database, as an update does. */
export const databaseRestarted: Disturbance = async ({ cluster }, _member, log) =>
  await during(log, { what: 'database restarted', accounts: null }, async () => {
    await cluster?.stop();
    await cluster?.start();
  });

/** Kills the database, and starts it again after more than a lease. */
export const databaseLost: Disturbance = async ({ cluster, options }, _member, log) =>
  await during(log, { what: 'database lost for 1.5 leases', accounts: null }, async () => {
    await cluster?.kill();
    await pause(options.leaseMs * 1.5);
    await cluster?.start();
  });

/** Keeps a lease from being renewed, as a process does that is suspended within a transaction. */
export const transactionFrozen: Disturbance = async ({ cluster, schema, options }, _member, log) => {
  await during(log, { what: 'transaction frozen for 1.5 leases', accounts: null }, async () => {
    const client = new pg.Client({ connectionString: cluster?.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query(`set search_path to ${schema}; begin`);
    await client.query('select 1 from accounts order by name limit 1 for update');
    await pause(1.5 * options.leaseMs);
    await client.end().catch(() => undefined);
  });
};

/** Lets the disturbances happen in turn until the end, each to the next daemon, with a rest in between. */
export async function disturb(
  fleet: Fleet,
  disturbances: readonly Disturbance[],
  isOver: () => boolean,
): Promise<Disturbances> {
  const log = noDisturbances();
  for (let index = 0; !isOver(); index += 1) {
    const member = fleet.members[index % fleet.members.length];
    if (member !== undefined) await disturbances[index % disturbances.length]?.(fleet, member, log);
    await pause(fleet.options.restMs);
  }
  return log;
}
