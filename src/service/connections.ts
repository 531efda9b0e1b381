// Opens the readers and writers of accounts. They share connections and rate limits within an account and within a base
// address. Each process has one object of this kind.
import { rootCertificates } from 'node:tls';
import type { RunSignals } from '../core/ports/clock.ts';
import type { WritableService } from '../core/ports/service.ts';
import type { Secret } from '../core/secret.ts';
import type { AccountSettings, ApiSettings } from '../core/settings.ts';
import { sha256 } from '../system/digest.ts';
import PQueue from 'p-queue';
import { LARGEST_ANSWER_BYTES } from '../core/limits.ts';
import { createReader } from './reader.ts';
import type { RequestObserver } from '../core/ports/progress.ts';
import { Pace, Requests } from './requests.ts';
import { type Dispatchers, openDispatchers } from '../system/dispatchers.ts';
import { createWriter } from './writer.ts';

export interface ConnectionOptions {
  readonly api: ApiSettings;
  readonly version: string;
  readonly token: (account: AccountSettings) => Promise<Secret>;
  /** The text of `api.caFile`. Throws ConfigError. */
  readonly authorities: (file: string) => Promise<string>;
  readonly observer: (account: string) => RequestObserver;
}

/** The reader and writer of a run share one state, which is found by the `signals` object of the run. */
export interface Connections extends WritableService {
  close(): Promise<void>;
}

export function createConnections(options: ConnectionOptions): Connections {
  const { api } = options;
  const hosts = new Map<string, PQueue>();
  const paces = new Map<string, Pace>();
  const opened = new WeakMap<RunSignals, Map<string, Promise<Requests>>>();
  let dispatchers: Promise<Dispatchers> | undefined;

  function paceOf({ name, baseUrl }: AccountSettings): Pace {
    const newHost = (): PQueue => new PQueue({ concurrency: api.hostConcurrency });
    return kept(paces, name, () => new Pace(api, kept(hosts, baseUrl, newHost)));
  }

  /** Shared by the reader and writer of a run, so that a pause requested from the reader also applies to the writer. */
  function requestsOf(account: AccountSettings, signals: RunSignals): Promise<Requests> {
    const ofRun = kept(opened, signals, () => new Map<string, Promise<Requests>>());
    return kept(ofRun, account.name, () => open(account, signals));
  }

  async function open(account: AccountSettings, signals: RunSignals): Promise<Requests> {
    // After a failure, the next run tries again.
    const opening = (dispatchers ??= openDispatchersFor(options).catch((error: unknown) => {
      dispatchers = undefined;
      throw error;
    }));
    // Awaited below. If the token is not readable either, nobody awaits it, and its failure would end the process.
    opening.catch(() => undefined);
    return new Requests({
      baseUrl: account.baseUrl,
      token: await options.token(account),
      userAgent: `rolecall/${options.version}`,
      timeoutMs: api.timeoutMs,
      retries: api.retries,
      dispatcher: (await opening).to(account.baseUrl),
      pace: paceOf(account),
      observer: options.observer(account.name),
      signals,
    });
  }

  return {
    reader: async (account, signals) => createReader(await requestsOf(account, signals)),
    writer: async (account, signals) => createWriter(await requestsOf(account, signals)),
    async tokenKey(account, signals) {
      const { token } = await requestsOf(account, signals);
      return sha256(`${account.baseUrl} ${token.reveal()}`, 'base64');
    },
    async close() {
      // A failure to open was already thrown to the caller of `reader` or `writer`.
      await dispatchers?.then((opened) => opened.close()).catch(() => undefined);
    },
  };
}

/** What the map has; otherwise it is made and kept there. */
function kept<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

async function openDispatchersFor({ api, authorities }: ConnectionOptions): Promise<Dispatchers> {
  const ca = api.caFile === undefined ? undefined : [...rootCertificates, await authorities(api.caFile)];
  const options = {
    connections: api.hostConcurrency,
    pipelining: 1,
    connect: { timeout: Math.min(10_000, api.timeoutMs), ...(ca === undefined ? {} : { ca }) },
    maxResponseSize: LARGEST_ANSWER_BYTES,
    headersTimeout: api.timeoutMs,
    bodyTimeout: api.timeoutMs,
    keepAliveTimeout: 4000,
    keepAliveMaxTimeout: 30_000,
  };
  return openDispatchers(options);
}
