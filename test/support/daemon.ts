// A daemon as a process: starts it, waits for it, sends requests, reads its log and its metrics, and stops it.
import { expect } from 'vitest';
import { type Running, until, type Workspace } from './workspace.ts';

/** The token of the HTTP interface of a daemon whose file has `WITH_TOKEN`. */
export const HTTP_TOKEN = 'http-token-of-the-operator';
export const WITH_TOKEN = 'http: { listen: 127.0.0.1:0, token: { env: ROLECALL_HTTP_TOKEN } }';

export const EVERY_SECOND = '"* * * * * *"';
/** Does not tick during a test: such an account runs only on request. */
export const ONCE_A_YEAR = '"0 0 1 1 *"';

export interface LogLine {
  readonly level: number | string;
  /** ISO 8601. */
  readonly time: string;
  readonly event?: string;
  readonly account?: string;
  readonly runId?: string;
  readonly status?: string;
  readonly trigger?: string;
  readonly reason?: string;
  readonly url?: string;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** The samples of Prometheus' text format by their name and labels. */
export type Samples = ReadonlyMap<string, number>;

export interface Daemon extends Running {
  readonly url: string;
  /** Sends a GET without the token. */
  get(path: string): Promise<Reply>;
  /** Sends a request to the API, `path` below /api/v1/, with the token: a GET, or a POST of the body. */
  api<T = Readonly<Record<string, unknown>>>(
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: T }>;
  metrics(): Promise<Samples>;
  log(): readonly LogLine[];
  /** The lines of the log with this event, of one account when it is named. */
  events(event: string, account?: string): readonly LogLine[];
  /** How many runs of an account have ended, with one status when it is given. */
  runsEnded(account: string, status?: string): number;
  /** Changes files of the configuration, and resolves when the daemon uses them. */
  edit(change: () => void): Promise<void>;
  /** Sends SIGTERM; expects a clean end and no output except the log. */
  stop(): Promise<void>;
}

export interface DaemonOptions {
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `rolecall serve` in a workspace and resolves when it listens; throws when it ends before. */
export async function startDaemon(
  workspace: Pick<Workspace, 'start'>,
  { env = {} }: DaemonOptions = {},
): Promise<Daemon> {
  const running = workspace.start(['serve'], { env: { ROLECALL_HTTP_TOKEN: HTTP_TOKEN, ...env } });
  const log = logReader(running);
  const listening = (): string | undefined => log().find(({ event }) => event === 'listening')?.url;
  await until('the daemon listens', () => listening() !== undefined || running.process.exitCode !== null);
  const url = listening();
  if (url === undefined) throw new Error(`the daemon ended: ${running.output().stderr}`);

  async function get(path: string): Promise<Reply> {
    const reply = await fetch(url + path);
    return { status: reply.status, text: await reply.text() };
  }

  const events: Daemon['events'] = (wanted, of) =>
    log().filter(({ event, account }) => event === wanted && (of === undefined || account === of));

  return {
    ...running,
    url,
    get,
    async api<T>(path: string, body?: object) {
      const reply = await fetch(`${url}/api/v1/${path}`, {
        headers: { authorization: `Bearer ${HTTP_TOKEN}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      });
      return { status: reply.status, body: (await reply.json()) as T };
    },
    metrics: async () => samplesOf((await get('/metrics')).text),
    log,
    events,
    runsEnded: (account, status) =>
      events('run_ended', account).filter((line) => status === undefined || line.status === status).length,
    async edit(change) {
      const before = events('config_changed').length;
      change();
      await until('the daemon uses the changed files', () => events('config_changed').length > before);
    },
    async stop() {
      running.process.kill('SIGTERM');
      const { status, stdout, stderr } = await running.ended;
      expect({ status, stdout }, stderr.slice(-2000)).toEqual({ status: 0, stdout: '' });
      expect(log().at(-1)).toMatchObject({ event: 'stopped' });
    },
  };
}

/** Reads the log as it grows; throws on a line that is not JSON, such as the error of a daemon that could not start. */
function logReader(running: Running): () => readonly LogLine[] {
  const lines: LogLine[] = [];
  let read = 0;
  return () => {
    const { stderr } = running.output();
    const end = stderr.lastIndexOf('\n') + 1;
    const fresh = stderr.slice(read, Math.max(read, end)).split('\n').slice(0, -1);
    read = Math.max(read, end);
    for (const line of fresh) lines.push(parsed(line));
    return lines;
  };
}

function parsed(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    throw new Error(`this is not a line of the log: ${line}`);
  }
}

/** Throws on a line that is not a sample. */
export function samplesOf(text: string): Samples {
  const sample = /^([a-zA-Z_:][\w:]*(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*",?)*\})?) (\S+)$/;
  const lines = text.split('\n').filter((line) => line !== '' && !/^# (HELP|TYPE) \S+ \S/.test(line));
  return new Map(
    lines.map((line) => {
      const [, name = '', value = ''] = sample.exec(line) ?? [];
      if (name === '' || (Number.isNaN(Number(value)) && value.toLowerCase() !== 'nan'))
        throw new Error(`no sample: ${line}`);
      return [name, Number(value)] as const;
    }),
  );
}
