// PostgreSQL for tests: a new schema on the cluster that the run shares, or a cluster of the test's own.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { type Cluster, type ClusterOptions, startCluster, urlOf } from './postgres-cluster.ts';
import { HUB_PORT, type HubAnswer } from './postgres-hub.ts';
import { findPostgres, NO_POSTGRES } from './postgres-programs.ts';

const programs = findPostgres();

/** For `describe.skipIf(!hasPostgres)`. With `CI=true`, a machine without PostgreSQL fails instead. */
export const hasPostgres = programs !== null;

/** A place for one store that no other test uses. */
export interface PostgresPlace {
  readonly url: string;
  readonly schema: string;
}

/** A cluster of the test's own, which it may stop and kill. */
export interface OwnCluster extends Cluster {
  /** The address of its one database. */
  readonly url: string;
}

let database: Promise<string> | undefined;
let schemas = 0;

/** A schema that does not exist yet, in the database of this test process. */
export async function freshPostgres(): Promise<PostgresPlace> {
  schemas += 1;
  return { url: await (database ??= ownDatabase()), schema: `test_${schemas}` };
}

/** A cluster that is removed when the test ends. It takes seconds to start: only for tests that stop or kill it. */
export async function ownPostgres(options: ClusterOptions = {}): Promise<OwnCluster> {
  if (programs === null) throw new Error(NO_POSTGRES);
  const cluster = await startCluster(programs, options);
  onTestFinished(() => cluster.remove());
  return { ...cluster, url: urlOf(cluster, 'postgres') };
}

/** Runs one statement on a connection of its own and returns its rows. */
export async function queryPostgres(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Ends the connections of rolecall to this database, as an administrator or a failover does. Returns how many. */
export async function terminateConnections(url: string): Promise<number> {
  const rows = await queryPostgres(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like 'rolecall%'`,
  );
  return rows.length;
}

/** One database for each test process: advisory locks and notifications reach a complete database. */
async function ownDatabase(): Promise<string> {
  const socket = await sharedSocket();
  const name = `test_${process.pid}_${Date.now()}`;
  await queryPostgres(urlOf({ socket }, 'postgres'), `create database ${name}`);
  return urlOf({ socket }, name);
}

async function sharedSocket(): Promise<string> {
  const port = process.env[HUB_PORT];
  if (programs === null) throw new Error(NO_POSTGRES);
  // A run without the hub, such as the mutation test, has a cluster in each process; it ends with the process.
  if (port === undefined) return (await startCluster(programs)).socket;
  const answer = JSON.parse(await text(connect(Number(port), '127.0.0.1'))) as HubAnswer;
  if ('error' in answer) throw new Error(answer.error);
  return answer.socket;
}
