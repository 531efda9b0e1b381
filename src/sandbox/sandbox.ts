// Starts a sandbox: a local Planning Service for rehearsals, the demo and the tests. It serves the API, its description, and
// controls: changes that the public API does not offer.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { type Account, accountNamed, createdAt, openAccounts, type SandboxResource } from './account.ts';
import { anInteger, aText, type Given, parseAs, parseFile, SandboxError } from './check.ts';
import { type AccountIdentity, DataFile, type SandboxEntry } from './data-file.ts';
import { type Fault, FaultRule, parseFaults } from './faults.ts';
import openapi from './openapi.json' with { type: 'json' };
import { splitTarget } from './operations.ts';
import { type Kind, parseSeed, type Region, resourceSchema, type SandboxSeed, type Seed } from './seed.ts';
import { type LoggedRequest, Service } from './serve.ts';
import { changeSettings, type SandboxSettings } from './settings.ts';

export type { FaultAction } from './fault-actions.ts';
export type { Fault } from './faults.ts';
export type { SandboxSeed } from './seed.ts';
export type { LoggedRequest } from './serve.ts';
export type { SandboxSettings } from './settings.ts';
export { SandboxError } from './check.ts';

export interface SandboxOptions {
  /** 0 (the default): any free port. */
  readonly port?: number;
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

/** An id or a creation date chosen by the caller. */
interface EntryChoice {
  readonly id?: string;
  readonly createDate?: string;
}

const moveSchema = z.strictObject({
  take: z.array(aText).default([]),
  give: z.array(aText).default([]),
});

const PERSON = /^\/people\/([^/]+)\/([^/]+)$/;

/**
 * A running sandbox. Each control throws `SandboxError` (`not_found`, `invalid`) and takes effect at once: `listDelayMs`
 * does not apply. The settings for names (unique, trimmed …) apply to the API only, not to the controls.
 */
export class Sandbox {
  /** `http://127.0.0.1:PORT`, which also serves the region `us`. */
  readonly url: string;
  /** The base addresses of the regions: `${url}/us`, `${url}/eu`, `${url}/au` and `${url}/il`. */
  readonly regions: Readonly<Record<Region, string>>;
  /** Each with its token and the base address of its region. Other regions reject the token. */
  readonly accounts: readonly (AccountIdentity & { readonly baseUrl: string })[];
  private readonly service: Service;
  private readonly server: Server;
  private readonly data: DataFile;
  private closing: Promise<void> | undefined;

  constructor(service: Service, server: Server, data: DataFile, url: string) {
    [this.service, this.server, this.data, this.url] = [service, server, data, url];
    this.regions = { us: `${url}/us`, eu: `${url}/eu`, au: `${url}/au`, il: `${url}/il` };
    this.accounts = service.accounts.map(({ identity }) => ({
      ...identity,
      baseUrl: this.regions[identity.region],
    }));
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      outgoing.on('error', () => {}); // a client may disconnect at any time
      this.answer(incoming, outgoing).catch(() => {
        if (outgoing.headersSent) outgoing.destroy();
        else replyJson(outgoing, 500, { detail: 'the sandbox failed unexpectedly; this is a bug' });
      });
    });
  }

  /** What the account contains now, also while `listDelayMs` still hides it from the lists. */
  state(name: string) {
    const account = this.account(name);
    const resources = account.resources().map((person) => account.named(person));
    return { skills: account.all('skill'), roles: account.all('role'), resources };
  }

  addSkill(account: string, name: string, choice?: EntryChoice): SandboxEntry {
    return this.addEntry(account, 'skill', name, choice);
  }

  addRole(account: string, name: string, choice?: EntryChoice): SandboxEntry {
    return this.addEntry(account, 'role', name, choice);
  }

  /** Deletes an entry, also from all resources, like a delete through the API. */
  removeEntry(account: string, entryId: string): void {
    this.account(account).removeEntry(entryId);
  }

  /** Renames an entry and keeps its id, as somebody can on the pages of the service. */
  renameEntry(account: string, entryId: string, name: string): SandboxEntry {
    return this.account(account).renameEntry(entryId, name);
  }

  assign(account: string, resourceId: string, entryId: string): SandboxResource {
    return this.account(account).assign(resourceId, entryId);
  }

  unassign(account: string, resourceId: string, entryId: string): SandboxResource {
    return this.account(account).unassign(resourceId, entryId);
  }

  addResource(account: string, resource: Given<z.input<typeof resourceSchema>> = {}): SandboxResource {
    const parsed = parseAs(resourceSchema, resource, 'resource');
    return this.account(account).addResource(parsed, createdAt(Date.now()));
  }

  removeResource(account: string, resourceId: string): void {
    this.account(account).removeResource(resourceId);
  }

  /** Replaces all fault rules and resets their counts. */
  setFaults(rules: readonly Fault[]): void {
    const { randomSeed } = this.service.settings;
    this.service.faults = parseFaults(rules).map((fault, at) => new FaultRule(fault, randomSeed * 7919 + at));
  }

  /** The fault rules, and how often each has acted. */
  faults(): { readonly faults: readonly Fault[]; readonly acted: readonly number[] } {
    const { faults } = this.service;
    return { faults: faults.map(({ fault }) => fault), acted: faults.map(({ acted }) => acted) };
  }

  /** Changes the given settings and keeps the others. */
  setSettings(changes: Partial<SandboxSettings>): void {
    const settings = changeSettings(this.service.settings, changes);
    const names = this.accounts.map(({ name }) => name);
    const unknown = Object.keys(settings.listedAccountId).filter((name) => !names.includes(name));
    if (unknown.length > 0) {
      const problem = `settings.listedAccountId: no account is named ${unknown.join(', ')}`;
      throw new SandboxError('invalid', `${problem}; the accounts are ${names.join(', ')}`);
    }
    this.service.use(settings);
  }

  settings(): SandboxSettings {
    return this.service.settings;
  }

  /** The requests since the start or since `clearRequests`, oldest first, without tokens. */
  requests(): readonly LoggedRequest[] {
    return this.service.requests.map((each) => ({ ...each }));
  }

  clearRequests(): void {
    this.service.requests = [];
  }

  /** Closes all connections, cancels delayed effects and releases the data file. May be called twice. */
  close(): Promise<void> {
    return (this.closing ??= this.closeOnce());
  }

  private async closeOnce(): Promise<void> {
    for (const delay of this.service.delays) clearTimeout(delay);
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
    this.data.close();
  }

  private account(name: string): Account {
    return accountNamed(this.service.accounts, name);
  }

  private addEntry(account: string, kind: Kind, name: string, choice: EntryChoice = {}): SandboxEntry {
    if (typeof name !== 'string' || name === '')
      throw new SandboxError('invalid', 'name: should be a string that is not empty');
    return this.account(account).addEntry(kind, { name, ...createdAt(Date.now()), ...choice });
  }

  private async answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { path } = splitTarget(incoming.url ?? '/');
    if (path === '/openapi.json' && incoming.method === 'GET') {
      const servers = openapi.servers.map((each) => ({ ...each, url: this.url + each.url }));
      replyJson(outgoing, 200, { ...openapi, servers });
    } else if (PERSON.test(path) && incoming.method === 'POST') await this.movePerson(incoming, outgoing);
    else await this.service.serve(incoming, outgoing);
  }

  /**
   * The control that a rehearsal calls over HTTP: moves a person as somebody does on the pages of the service. It takes entries
   * from the person and gives others, by name or id: all of them, or none if one does not exist.
   */
  private async movePerson(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const [, name = '', id = ''] = PERSON.exec(incoming.url ?? '')?.map(decodeURIComponent) ?? [];
      const account = this.account(name);
      const { take, give } = parseAs(moveSchema, JSON.parse(await text(incoming)), 'body');
      const entries = [...account.all('skill'), ...account.all('role')];
      const idOf = (given: string): string => {
        const found = entries.find((entry) => entry.name === given || entry.id === given);
        if (found !== undefined) return found.id;
        throw new SandboxError('not_found', `account ${name} has no skill or role “${given}”`);
      };
      const [taken, added] = [take.map(idOf), give.map(idOf)];
      for (const entryId of taken) account.unassign(id, entryId);
      for (const entryId of added) account.assign(id, entryId);
      replyJson(outgoing, 200, account.named(account.person(id)));
    } catch (error) {
      const isKnown = error instanceof SandboxError;
      if (!(isKnown || error instanceof SyntaxError || error instanceof URIError)) throw error;
      replyJson(outgoing, isKnown && error.code === 'not_found' ? 404 : 400, { detail: error.message });
    }
  }
}

function replyJson(outgoing: ServerResponse, status: number, body: object): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
}

function readSeed({ seed, seedFile }: SandboxOptions): Seed {
  if (seed !== undefined && seedFile !== undefined)
    throw new SandboxError('invalid', 'seed and seedFile are both given; give one of them');
  return seedFile === undefined ? parseSeed(seed ?? { accounts: [] }) : parseFile(seedFile, parseSeed);
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

/**
 * Starts a sandbox and resolves when it listens. It serves the API under `/api/public/v1` for each region, and its
 * description at `/openapi.json`. Throws `SandboxError` for every problem of the options, the files or the port.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { port = 0, faultsFile, seed: given = options.seedFile } = options;
  parseAs(anInteger(0, 65_535), port, 'port');
  const atLeast = parseAs(
    anInteger(0, 10_000),
    options.accounts ?? (given === undefined ? 1 : 0),
    'accounts',
  );
  const seed = readSeed(options);
  const filed = faultsFile === undefined ? [] : parseFile(faultsFile, parseFaults);
  const data = new DataFile(options.dataFile);
  const server = createServer();
  try {
    const service = new Service(openAccounts(data, seed, atLeast), options.log);
    const sandbox = new Sandbox(service, server, data, await listen(server, port));
    sandbox.setSettings({ ...seed.settings, ...options.settings });
    sandbox.setFaults([...(options.faults ?? []), ...filed]);
    return sandbox;
  } catch (error) {
    server.close();
    data.close();
    throw error;
  }
}
