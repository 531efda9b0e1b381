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

interface OpenAccount {
  readonly requests: Requests;
  readonly token: Secret;
}

export function createConnections(options: ConnectionOptions): Connections {
  const { api } = options;
  const hosts = new Map<string, PQueue>();
  const paces = new Map<string, Pace>();
  let dispatchers: Promise<Dispatchers> | undefined;

  function paceOf(account: AccountSettings): Pace {
    const pace = paces.get(account.name) ?? new Pace(api, hostOf(account.baseUrl));
    paces.set(account.name, pace);
    return pace;
  }

  function hostOf(baseUrl: string): PQueue {
    const host = hosts.get(baseUrl) ?? new PQueue({ concurrency: api.hostConcurrency });
    hosts.set(baseUrl, host);
    return host;
  }

  const opened = new WeakMap<RunSignals, Map<string, Promise<OpenAccount>>>();

  /** Shared by the reader and writer of a run, so that a pause requested from the reader also applies to the writer. */
  function accountOf(account: AccountSettings, signals: RunSignals): Promise<OpenAccount> {
    const ofRun = opened.get(signals) ?? new Map<string, Promise<OpenAccount>>();
    opened.set(signals, ofRun);
    const openAccount = ofRun.get(account.name) ?? open(account, signals);
    ofRun.set(account.name, openAccount);
    return openAccount;
  }

  async function open(account: AccountSettings, signals: RunSignals): Promise<OpenAccount> {
    // After a failure, the next run tries again.
    const opening = (dispatchers ??= openDispatchersFor(options).catch((error: unknown) => {
      dispatchers = undefined;
      throw error;
    }));
    // Awaited below. If the token is not readable either, nobody awaits it, and its failure would end the process.
    opening.catch(() => undefined);
    const token = await options.token(account);
    const requests = new Requests({
      baseUrl: account.baseUrl,
      token,
      userAgent: `rolecall/${options.version}`,
      timeoutMs: api.timeoutMs,
      retries: api.retries,
      dispatcher: (await opening).to(account.baseUrl),
      pace: paceOf(account),
      observer: options.observer(account.name),
      signals,
    });
    return { requests, token };
  }

  return {
    async reader(account, signals) {
      const { requests, token } = await accountOf(account, signals);
      return createReader(requests, token);
    },
    async tokenKey(account, signals) {
      return keyOf(account.baseUrl, (await accountOf(account, signals)).token);
    },
    async writer(account, signals) {
      const { requests, token } = await accountOf(account, signals);
      return createWriter(requests, token);
    },
    async close() {
      // A failure to open was already thrown to the caller of `reader` or `writer`.
      await dispatchers?.then((opened) => opened.close()).catch(() => undefined);
    },
  };
}

function keyOf(baseUrl: string, token: Secret): string {
  return sha256(`${baseUrl} ${token.reveal()}`, 'base64');
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
