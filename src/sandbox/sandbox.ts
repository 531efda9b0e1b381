// Starts a sandbox: a local Planning Service for rehearsals, the demo and the tests.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { anInteger, parseAs, readJsonFile, SandboxError } from './check.ts';
import { controlsOf, movePerson, type SandboxControls } from './controls.ts';
import { DataFile } from './data-file.ts';
import { FaultRules, type Fault, parseFaults } from './faults.ts';
import { ListWriter } from './lists.ts';
import type { Region, SandboxAccount } from './model.ts';
import openapi from './openapi.json' with { type: 'json' };
import { RateLimiter, Timers } from './timing.ts';
import { type LoggedRequest, RequestLog } from './request-log.ts';
import { splitTarget } from './operations.ts';
import { parseSeed, type SandboxSeed } from './seed.ts';
import { serve, type Service } from './serve.ts';
import { DEFAULT_SETTINGS, type SandboxSettings } from './settings.ts';
import { openAccounts } from './accounts.ts';

export type { Fault, FaultAction } from './faults.ts';
export type { SandboxSeed } from './seed.ts';
export type { SandboxSettings } from './settings.ts';
export { SandboxError } from './check.ts';

export interface SandboxOptions {
  /** 0 (the default): any free port. */
  readonly port?: number;
  /** Loopback only: the tokens are no secrets. */
  readonly host?: '127.0.0.1';
  /** A SQLite file, created if missing, for one process at a time. Without it the data is in memory. */
  readonly dataFile?: string | undefined;
  /** The minimum number of accounts (default 1). Missing ones are created: `account-n` with `sandbox-token-n`. */
  readonly accounts?: number;
  /** A seed, as a JSON file or as an object; not both. */
  readonly seedFile?: string | undefined;
  readonly seed?: SandboxSeed;
  /** Overrides the settings of the seed. */
  readonly settings?: Partial<SandboxSettings>;
  /** A JSON file with a list of fault rules. They come after those of `faults`. */
  readonly faultsFile?: string | undefined;
  readonly faults?: readonly Fault[];
  /** Is called for every request when its response is sent; without tokens. */
  readonly log?: (entry: LoggedRequest) => void;
}

/** A running sandbox. */
export interface Sandbox extends SandboxControls {
  /** `http://127.0.0.1:PORT`, which also serves the region `us`. */
  readonly url: string;
  /** The base addresses: `${url}/us`, `${url}/eu`, `${url}/au` and `${url}/il`. */
  readonly regions: Readonly<Record<Region, string>>;
  readonly accounts: readonly SandboxAccount[];
  /** Closes all connections, cancels delayed effects and releases the data file. May be called twice. */
  close(): Promise<void>;
}

function readSeed(options: SandboxOptions): SandboxSeed | undefined {
  if (options.seed !== undefined && options.seedFile !== undefined) {
    throw new SandboxError('invalid', 'seed and seedFile are both given; give one of them');
  }
  if (options.seed !== undefined) return parseSeed(options.seed);
  return options.seedFile === undefined ? undefined : inFile(options.seedFile, parseSeed);
}

/** Parses the value in a file. Each problem starts with the name of the file. */
function inFile<T>(file: string, parse: (value: unknown) => T): T {
  const value = readJsonFile(file);
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    throw new SandboxError(
      error.code,
      error.issues.map((issue) => `${file}: ${issue}`),
      { cause: error },
    );
  }
}

function readFaults(options: SandboxOptions): readonly Fault[] {
  const { faultsFile } = options;
  const filed = faultsFile === undefined ? [] : inFile(faultsFile, (value) => parseFaults(value));
  return [...parseFaults(options.faults ?? []), ...filed];
}

function checkNumbers(options: SandboxOptions): void {
  parseAs(anInteger(0, 65_535), options.port ?? 0, 'port');
  parseAs(anInteger(0, 10_000), options.accounts ?? 1, 'accounts');
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const problem =
        cause.code === 'EADDRINUSE'
          ? `port ${port} is in use by another process; choose another port, or 0 for any free port`
          : `cannot listen on port ${port}: ${cause.message}`;
      reject(new SandboxError('unavailable', problem, { cause }));
    });
    server.listen(port, '127.0.0.1', () => {
      const { port: actual } = server.address() as AddressInfo; // a TCP server that listens has an AddressInfo
      resolve(`http://127.0.0.1:${actual}`);
    });
  });
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function sendFailure(outgoing: ServerResponse): void {
  if (outgoing.headersSent) return void outgoing.destroy();
  outgoing.writeHead(500, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ detail: 'the sandbox failed unexpectedly; this is a bug' }));
}

/** The description with the base addresses of this sandbox as its servers. */
function sendDescription(outgoing: ServerResponse, url: string): void {
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  const servers = openapi.servers.map((each) => ({ ...each, url: url + each.url }));
  outgoing.end(JSON.stringify({ ...openapi, servers }));
}

function connect(server: Server, service: Service, url: string): void {
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.on('error', () => {}); // a client may disconnect at any time
    const { path } = splitTarget(incoming.url ?? '/');
    if (path === '/openapi.json' && incoming.method === 'GET') return sendDescription(outgoing, url);
    const serving = PERSON.test(path) && incoming.method === 'POST' ? serveMove : serve;
    serving(service, incoming, outgoing).catch(() => sendFailure(outgoing));
  });
}

const PERSON = /^\/people\/([^/]+)\/([^/]+)$/;

/** The control that a rehearsal calls over HTTP: moves a person as somebody does on the pages of the service. */
async function serveMove(
  { accounts }: Service,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const reply = (status: number, body: object): void => {
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
  };
  try {
    const [, account = '', person = ''] = PERSON.exec(incoming.url ?? '')?.map(decodeURIComponent) ?? [];
    reply(200, movePerson(accounts.get(account), person, JSON.parse(await text(incoming))));
  } catch (error) {
    if (!(error instanceof SandboxError || error instanceof SyntaxError || error instanceof URIError))
      throw error;
    reply(error instanceof SandboxError && error.code === 'not_found' ? 404 : 400, { detail: error.message });
  }
}

function makeService(options: SandboxOptions, seed: SandboxSeed | undefined, data: DataFile): Service {
  const service: Service = {
    accounts: openAccounts(data, seed, options.accounts ?? (seed === undefined ? 1 : 0)),
    faults: new FaultRules(),
    limiter: new RateLimiter(),
    lists: new ListWriter(),
    log: new RequestLog(options.log),
    timers: new Timers(),
    settings: DEFAULT_SETTINGS,
  };
  controlsOf(service).setSettings({ ...seed?.settings, ...options.settings });
  service.faults.replace(readFaults(options), service.settings.randomSeed);
  return service;
}

/**
 * Starts a sandbox and resolves when it listens. It serves the API under `/api/public/v1` for each region, and its
 * description at `/openapi.json`. Throws `SandboxError` for every problem of the options, the files or the port.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkNumbers(options);
  const seed = readSeed(options);
  const data = new DataFile(options.dataFile);
  const server = createServer();
  try {
    const service = makeService(options, seed, data);
    const url = await listen(server, options.port ?? 0);
    return assemble(service, server, url, data);
  } catch (error) {
    data.close();
    throw error;
  }
}

function assemble(service: Service, server: Server, url: string, data: DataFile): Sandbox {
  const regions = { us: `${url}/us`, eu: `${url}/eu`, au: `${url}/au`, il: `${url}/il` };
  const accounts = service.accounts.all.map(({ identity }) => ({
    ...identity,
    baseUrl: regions[identity.region],
  }));
  connect(server, service, url);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    service.timers.clear();
    await closeServer(server);
    service.timers.clear(); // the last requests may have started timers
    data.close();
  };
  return { url, regions, accounts, ...controlsOf(service), close: () => (closing ??= close()) };
}
