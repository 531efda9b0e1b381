// The Planning Service behind the port of the use cases: accounts that answer late, fail, refuse or send a Retry-After.
import type { Entry, Kind } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type {
  Clock,
  Listing,
  RunSignals,
  ServiceReader,
  ServiceWriter,
  WritableService,
} from '../../../src/core/ports.ts';
import type { CreateOutcome, DeleteOutcome } from '../../../src/core/write-outcome.ts';
import type { AccountSettings } from '../../../src/core/settings.ts';
import type { AccountName, Mood } from './script.ts';
import { ACCOUNTS } from './script.ts';

export const CALM: Mood = { latencyMs: 0, fault: 'none', retryAfterMs: 0 };

interface Remote {
  readonly id: string;
  mood: Mood;
  readonly entries: Map<string, { readonly kind: Kind; readonly name: string }>;
  /** The entries that the one person has. */
  readonly held: Set<string>;
}

/** A request, at the moment when it arrives at the service. */
export interface ArrivedRequest {
  readonly account: string;
  readonly remote: AccountName;
  readonly write: { readonly action: 'create' | 'delete'; readonly kind: Kind; readonly name: string } | null;
  /** When the run opened the account, on the steady clock. */
  readonly openedMs: number;
  /** The wall clock when it was sent. */
  readonly sentWallMs: number;
}

export class RemoteService {
  private readonly remotes = new Map<AccountName, Remote>();
  private readonly onArrival: (arrived: ArrivedRequest) => void;
  private ids = 0;

  constructor(onArrival: (arrived: ArrivedRequest) => void) {
    this.onArrival = onArrival;
    for (const name of ACCOUNTS) {
      this.remotes.set(name, { id: `remote-${name}`, mood: CALM, entries: new Map(), held: new Set() });
    }
  }

  setMood(name: AccountName, mood: Mood): void {
    this.remote(name).mood = mood;
  }

  /** Somebody adds or removes a skill, or assigns it to the one person or unassigns it. */
  byHand(account: AccountName, name: string, does: 'add' | 'remove' | 'give' | 'take'): void {
    const remote = this.remote(account);
    const [id] = [...remote.entries].find(([, entry]) => entry.kind === 'skill' && entry.name === name) ?? [];
    if (does === 'add' && id === undefined) this.add(remote, 'skill', name);
    if (id === undefined) return;
    if (does === 'remove') this.drop(remote, id);
    if (does === 'give') remote.held.add(id);
    if (does === 'take') remote.held.delete(id);
  }

  /** The service as one process sees it. */
  portOf(
    clock: Clock,
    timerMs: () => number,
    throttledUntilMs: (account: string) => Promise<number | null>,
  ): WritableService {
    const sessions = new WeakMap<RunSignals, Promise<Session>>();
    const sessionOf = (settings: AccountSettings, signals: RunSignals): Promise<Session> => {
      const session =
        sessions.get(signals) ?? this.open(settings, signals, clock, timerMs(), throttledUntilMs);
      sessions.set(signals, session);
      return session;
    };
    return {
      reader: async (settings, signals) => (await sessionOf(settings, signals)).reader,
      tokenKey: ({ name }) => Promise.resolve(name),
      writer: async (settings, signals) => (await sessionOf(settings, signals)).writer,
    };
  }

  private async open(
    settings: AccountSettings,
    signals: RunSignals,
    clock: Clock,
    openedMs: number,
    throttledUntilMs: (account: string) => Promise<number | null>,
  ): Promise<Session> {
    const name = ('env' in settings.token ? settings.token.env.slice(-1) : 'a') as AccountName;
    const remote = this.remote(name);
    const untilMs = (await throttledUntilMs(settings.name)) ?? 0;
    let requests = 0;

    const call = async (write: ArrivedRequest['write'], effect: () => void): Promise<void> => {
      if (signals.stop.aborted) throw new ServiceError('unavailable', 'not sent because of the shutdown');
      const leftMs = untilMs - clock.nowMs();
      if (leftMs > 0)
        throw new ServiceError('throttled', 'it asked to be left alone', { retryAfterMs: leftMs });
      requests += 1;
      const { latencyMs, fault, retryAfterMs } = remote.mood;
      const sentWallMs = clock.nowMs();
      if (latencyMs > 0) await clock.sleep(latencyMs, signals.kill);
      if (signals.kill.aborted) throw new ServiceError('unavailable', 'given up because of the shutdown');
      const isDone = fault === 'none' || (fault === 'creates' && write?.action !== 'create');
      this.onArrival({
        account: settings.name,
        remote: name,
        write: isDone ? write : null,
        openedMs,
        sentWallMs,
      });
      if (fault === 'down') throw new ServiceError('unavailable', 'it is down', { httpStatus: 503 });
      if (fault === 'refused') throw new ServiceError('auth', 'the token was refused', { httpStatus: 401 });
      if (fault === 'throttled') {
        throw new ServiceError('throttled', 'it asks to be left alone', { httpStatus: 429, retryAfterMs });
      }
      if (fault === 'creates' && write?.action === 'create') {
        throw new ServiceError('rejected', 'it takes no more', { httpStatus: 422 });
      }
      effect();
    };

    const reader: ServiceReader = {
      async listEntries(kind): Promise<Listing<Entry>> {
        let items: Entry[] = [];
        await call(null, () => {
          items = [...remote.entries].flatMap(([id, entry]) =>
            entry.kind === kind ? [listed(id, entry.name, remote.id)] : [],
          );
        });
        return { items, warnings: [] };
      },
      async listResources() {
        let skillsIds: string[] = [];
        await call(null, () => {
          skillsIds = [...remote.held];
        });
        const raw = { _id: 'person', accountId: remote.id, skillsIds };
        return {
          items: [{ id: 'person', accountId: remote.id, skillsIds, roleId: null, raw }],
          warnings: [],
        };
      },
      traffic: () => ({ requests, retries: 0 }),
    };
    const add = (kind: Kind, entryName: string): string => this.add(remote, kind, entryName);
    const drop = (id: string): void => this.drop(remote, id);
    const writer: ServiceWriter = {
      async create(kind, entryName): Promise<CreateOutcome> {
        let id = '';
        const error = await attempt(() =>
          call({ action: 'create', kind, name: entryName }, () => {
            id = add(kind, entryName);
          }),
        );
        if (error !== null) return { type: 'failed', error, attempts: 1 };
        return { type: 'created', entry: listed(id, entryName, remote.id), httpStatus: 201, attempts: 1 };
      },
      async delete(kind, remoteId): Promise<DeleteOutcome> {
        const entryName = remote.entries.get(remoteId)?.name ?? '';
        const error = await attempt(() =>
          call({ action: 'delete', kind, name: entryName }, () => drop(remoteId)),
        );
        return error === null
          ? { type: 'deleted', httpStatus: 200, attempts: 1 }
          : { type: 'failed', error, attempts: 1, maybeDone: false };
      },
    };
    return { reader, writer };
  }

  private add(remote: Remote, kind: Kind, name: string): string {
    this.ids += 1;
    const id = `id-${String(this.ids)}`;
    remote.entries.set(id, { kind, name });
    return id;
  }

  private drop(remote: Remote, id: string): void {
    remote.entries.delete(id);
    remote.held.delete(id);
  }

  private remote(name: AccountName): Remote {
    const remote = this.remotes.get(name);
    if (remote === undefined) throw new Error(`there is no account ${name}`);
    return remote;
  }
}

interface Session {
  readonly reader: ServiceReader;
  readonly writer: ServiceWriter;
}

function listed(id: string, name: string, accountId: string): Entry {
  return { id, name, accountId, raw: { _id: id, name, accountId } };
}

async function attempt(work: () => Promise<void>): Promise<ServiceError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
