// The door of the room: starts a Planning Service of one's own (contract, section 8).

import { getRequestListener } from '@hono/node-server';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anInteger, Issues } from './check.ts';
import { controlServer } from './control-server.ts';
import { controlsOf, type SandboxControls } from './controls.ts';
import { DataFile } from './data-file.ts';
import { FaultBook } from './fault-rules.ts';
import { type Fault, parseFaults } from './faults.ts';
import { readJsonFile } from './json-file.ts';
import { ListWriter } from './lists.ts';
import { type Region, REGIONS } from './model.ts';
import { openapiDocument } from './openapi.ts';
import { RateLimiter } from './rate-limiter.ts';
import { type LoggedRequest, RequestLog } from './request-log.ts';
import { splitTarget } from './route.ts';
import type { SandboxAccount } from './sandbox-account.ts';
import { SandboxError } from './sandbox-error.ts';
import { parseSeed, type SandboxSeed } from './seed.ts';
import { serve, type Service } from './serve.ts';
import { DEFAULT_SETTINGS, type SandboxSettings } from './settings.ts';
import { Timers } from './timers.ts';
import { openWorld } from './world.ts';

export type { Fault, FaultAction, FaultMatch } from './faults.ts';
export type { SandboxSeed } from './seed.ts';
export type { SandboxSettings } from './settings.ts';
export { SandboxError } from './sandbox-error.ts';

export interface SandboxOptions {
  /** 0 (the default): any free one. */
  readonly port?: number;
  /** Nothing but loopback: tokens and controls are open to whoever reaches it. */
  readonly host?: '127.0.0.1';
  /** SQLite, made when missing, for one process at a time; absent: memory. */
  readonly dataFile?: string;
  /** At least so many accounts (1); those that neither file nor seed has are made: `account-n`, `sandbox-token-n`. */
  readonly accounts?: number;
  /** A seed as a JSON file, or as an object; not both. */
  readonly seedFile?: string;
  readonly seed?: SandboxSeed;
  /** Wins over the seed's settings. */
  readonly settings?: Partial<SandboxSettings>;
  /** A JSON file with a list of rules; they come after those of `faults`. */
  readonly faultsFile?: string;
  readonly faults?: readonly Fault[];
  /** Hears of every request when it is answered; without tokens. */
  readonly log?: (entry: LoggedRequest) => void;
}

/** A running sandbox. */
export interface Sandbox extends SandboxControls {
  /** `http://127.0.0.1:PORT`; it serves the region `us` too. */
  readonly url: string;
  /** The base addresses: `${url}/us` and so on. */
  readonly regions: Readonly<Record<Region, string>>;
  readonly accounts: readonly SandboxAccount[];
  /** Breaks all connections, forgets delayed effects and releases the data file. May be called twice. */
  close(): Promise<void>;
}

function readSeed(options: SandboxOptions): SandboxSeed | undefined {
  if (options.seed !== undefined && options.seedFile !== undefined) {
    throw new SandboxError('invalid', 'seed and seedFile: give one of them');
  }
  if (options.seed !== undefined) return parseSeed(options.seed);
  return options.seedFile === undefined ? undefined : inFile(options.seedFile, parseSeed);
}

/** Names the file in front of every problem found in it. */
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
  const issues = new Issues();
  anInteger(0, 65_535)(options.port ?? 0, 'port', issues);
  anInteger(0, 10_000)(options.accounts ?? 1, 'accounts', issues);
  issues.throwIfAny();
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === 'EADDRINUSE' ? 'is taken; choose another, or 0 for any' : cause.message;
      reject(new SandboxError('unavailable', `port ${port}: ${taken}`, { cause }));
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

function fail(outgoing: ServerResponse): void {
  if (outgoing.headersSent) return void outgoing.destroy();
  outgoing.writeHead(500, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ detail: 'unexpected failure of the sandbox' }));
}

function describe(outgoing: ServerResponse, url: string): void {
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify(openapiDocument(url)));
}

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

function connect(server: Server, service: Service, url: string, controls: Listener): void {
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.on('error', () => {}); // a client that went away is no trouble of ours
    const { path } = splitTarget(incoming.url ?? '/');
    if (path === '/_sandbox' || path.startsWith('/_sandbox/')) return void controls(incoming, outgoing);
    if (path === '/openapi.json' && incoming.method === 'GET') return describe(outgoing, url);
    serve(service, incoming, outgoing).catch(() => fail(outgoing));
  });
}

function makeService(options: SandboxOptions, seed: SandboxSeed | undefined, data: DataFile): Service {
  const service: Service = {
    world: openWorld(data, seed, options.accounts ?? (seed === undefined ? 1 : 0)),
    faults: new FaultBook(),
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
 * Starts a sandbox and resolves when it listens. Everything of planning-service-api.md is served under
 * `/api/public/v1` for each region, the description at `/openapi.json`, the controls at `/_sandbox` (see
 * `controlServer`). Throws `SandboxError` for whatever is wrong with the options, files or port.
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
  const regions = { us: `${url}/us`, eu: `${url}/eu`, au: `${url}/au`, il: `${url}/il` } satisfies Record<
    (typeof REGIONS)[number],
    string
  >;
  const accounts = service.world.accounts.map(({ identity }) => ({
    ...identity,
    baseUrl: regions[identity.region],
  }));
  const controls = controlsOf(service);
  const app = controlServer(controls, accounts);
  const listener = getRequestListener((request, env) => app.fetch(request, env), {
    overrideGlobalObjects: false,
  });
  connect(server, service, url, listener);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    service.timers.clear();
    await closeServer(server);
    service.timers.clear(); // what the last requests began
    data.close();
  };
  return { url, regions, accounts, ...controls, close: () => (closing ??= close()) };
}
