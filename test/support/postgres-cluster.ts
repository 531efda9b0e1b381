// A PostgreSQL cluster in a temporary folder, reachable by a Unix socket alone. It ends with the process that started it.
import { type ChildProcessByStdio, execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { createInterface } from 'node:readline';
import { type PostgresPrograms, postgresVersion, preparePrograms } from './postgres-programs.ts';

/** The user that owns every test database. */
const TEST_USER = 'rolecall';

export interface ClusterOptions {
  /** Settings of the server, such as `{ fsync: 'on' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface Cluster {
  /** The folder of its socket. */
  readonly socket: string;
  readonly version: string;
  /** Starts it again and resolves when it accepts connections. */
  start(): Promise<void>;
  /** Ends every connection, as `systemctl stop postgresql` does. */
  stop(): Promise<void>;
  /** Kills the server without a shutdown, as a power failure of its machine would. */
  kill(): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

/** PostgreSQL refuses to run as root; another user without rights does it there. */
const NOBODY = 65_534;

/** No test of this suite is about the power failure of the database's disk. */
const FAST = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };

const SETTINGS = {
  listen_addresses: '',
  max_connections: '200',
  shared_buffers: '32MB',
  max_wal_size: '256MB',
  log_line_prefix: '%m [%p] ',
  timezone: 'UTC',
};

/**
 * Runs the cluster for a process that may be killed: it obeys the lines of its standard input, and when that ends, it stops
 * the server and removes the folder.
 */
const KEEPER = `
bin=$1 folder=$2 options=$3
cd "$folder"
control() { "$bin/pg_ctl" --pgdata=data --silent --wait "$@" >>control.log 2>&1 </dev/null; }
while read -r order; do
  case $order in
    start) tries=0
      until control --log=server.log --options="$options" start; do
        tries=$((tries + 1)); [ $tries -ge 20 ] && break; sleep 0.2
      done ;;
    stop) control --mode=fast stop ;;
    kill) kill -KILL "$(head -n 1 data/postmaster.pid)" ;;
  esac
  echo "$order $?"
done
control --mode=immediate stop
cd /
rm -rf "$folder"
`;

type Keeper = ChildProcessByStdio<Writable, Readable, null>;

/** Makes and starts a cluster. */
export async function startCluster(
  programs: PostgresPrograms,
  { settings = {} }: ClusterOptions = {},
): Promise<Cluster> {
  // The path of a socket has at most 107 bytes, so the folder is not below a long TMPDIR.
  const folder = mkdtempSync('/tmp/rolecall-pg-');
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const bin = preparePrograms(programs, folder);
  if (user.uid !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder]);
  const version = postgresVersion(bin);
  const all = { ...SETTINGS, ...FAST, ...settings, unix_socket_directories: folder };
  const options = Object.entries(all).map(([name, value]) => `-c ${name}='${value}'`);
  const run = { ...user, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  const keeper: Keeper = spawn('sh', ['-c', KEEPER, 'keeper', bin, folder, options.join(' ')], {
    ...run,
    // Not ended by the Ctrl-C that ends the tests, which would leave the server behind.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  keeper.unref();
  try {
    await promisify(execFile)(join(bin, 'initdb'), initOptions(join(folder, 'data'), version), run);
    const order = obedience(keeper, folder);
    await order('start');
    return {
      socket: folder,
      version,
      start: () => order('start'),
      stop: () => order('stop'),
      kill: () => order('kill'),
      remove: () => ended(keeper),
    };
  } catch (error) {
    await ended(keeper);
    throw error;
  }
}

/** A collation in which case and punctuation count last shows each comparison that relies on `collate "C"`. */
function initOptions(data: string, version: string): string[] {
  const icu = Number.parseInt(version, 10) >= 15 ? ['--locale-provider=icu', '--icu-locale=en-US'] : [];
  return [
    `--pgdata=${data}`,
    `--username=${TEST_USER}`,
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
    ...icu,
  ];
}

function obedience(keeper: Keeper, folder: string): (order: string) => Promise<void> {
  const lines = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
  return async (order) => {
    keeper.stdin.write(`${order}\n`);
    const { value } = await lines.next();
    if (value === `${order} 0`) return;
    throw new Error(`PostgreSQL: ${order} failed: ${String(value)}\n${logOf(folder)}`);
  };
}

function logOf(folder: string): string {
  try {
    return readFileSync(join(folder, 'server.log'), 'utf8').slice(-2000);
  } catch {
    return 'it has no log';
  }
}

async function ended(keeper: Keeper): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    keeper.once('exit', () => resolve());
    keeper.ref();
    keeper.stdin.end();
  });
}

/** The address of a database of the cluster. */
export function urlOf({ socket }: Pick<Cluster, 'socket'>, database: string): string {
  return `postgres:///${database}?host=${socket}&user=${TEST_USER}`;
}
