// What really happened at the service: which request created or removed which entry, whatever the response was.
import type { Kind } from '../../../src/core/catalog.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { Call } from '../traffic.ts';
import { answeredJson } from '../traffic.ts';
import { loosely } from './names.ts';
import { ACCOUNT } from './world.ts';

export interface Live {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
}

/** An entry that a POST created. */
export interface Made {
  readonly kind: Kind;
  readonly id: string;
  /** The requested name, or the name that somebody gave it later. */
  asked: string;
  /** The name that it has. */
  name: string;
  readonly run: number;
}

type Logged = ReturnType<Sandbox['requests']>[number];

export class Ledger {
  readonly made: Made[] = [];
  private readonly known = new Set<string>();
  private readonly attributed = new Set<number>();
  private readonly sandbox: Sandbox;

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
    this.knowAll();
  }

  /** All entries of the account now. */
  live(): Live[] {
    const { skills, roles } = this.sandbox.state(ACCOUNT);
    return [
      ...skills.map(({ id, name }): Live => ({ kind: 'skill', id, name })),
      ...roles.map(({ id, name }): Live => ({ kind: 'role', id, name })),
    ];
  }

  /** Records the entries that requests have created since the last call; called before and after other changes. */
  notice(run: number): void {
    const fresh = this.live().filter(({ kind, id }) => !this.known.has(`${kind}:${id}`));
    if (fresh.length === 0) return;
    const creates = this.log().filter(
      ({ method, effect, seq }) => method === 'POST' && effect && !this.attributed.has(seq),
    );
    for (const { kind, id, name } of fresh) {
      const request = creates.find(
        (each) =>
          !this.attributed.has(each.seq) &&
          each.path.endsWith(`/${kind}`) &&
          loosely(each.name ?? '') === loosely(name),
      );
      if (request === undefined) throw new Error(`no request created the ${kind} “${name}” (${id})`);
      this.attributed.add(request.seq);
      this.made.push({ kind, id, asked: request.name ?? '', name, run });
      this.known.add(`${kind}:${id}`);
    }
  }

  /**
   * Records that somebody else created or renamed what is new now. What is renamed before `wasListed` looks as if the service
   * had changed the requested name.
   */
  knowAll(wasListed: (made: Made) => boolean = () => true): void {
    for (const { kind, id, name } of this.live()) {
      this.known.add(`${kind}:${id}`);
      const made = this.made.find((each) => each.kind === kind && each.id === id && each.name !== name);
      if (made === undefined) continue;
      if (wasListed(made)) made.asked = name;
      made.name = name;
    }
  }

  /** Whether a call changed something at the service. */
  hadEffect(call: Call, all: readonly Call[]): boolean {
    const path =
      call.remoteId === null ? `/${call.kind}` : `/${call.kind}/${encodeURIComponent(call.remoteId)}`;
    const same = (other: Call) =>
      other.method === call.method &&
      other.kind === call.kind &&
      other.name === call.name &&
      other.remoteId === call.remoteId;
    const place = all.filter((other) => same(other) && other.arrivedAtMs !== null).indexOf(call);
    const logged = this.log().filter(
      (each) =>
        each.method === call.method &&
        each.path.endsWith(path) &&
        (call.method !== 'POST' || each.name === call.name),
    );
    return logged[place]?.effect ?? false;
  }

  private log(): readonly Logged[] {
    return this.sandbox.requests();
  }
}

/** Whether the response to a create or delete leaves open if it took effect. */
export function isDoubtful(call: Call): boolean {
  if (call.answer === null) return true;
  const { status } = call.answer;
  if (status >= 500 || (status >= 300 && status < 400) || status === 408) return true;
  return call.method === 'POST' && status >= 200 && status < 300 && !isConfirmed(call);
}

/** Whether the response to a create contains the created entry. */
export function isConfirmed(call: Call): boolean {
  const { status } = call.answer ?? { status: 0 };
  const body = answeredJson(call);
  if (status < 200 || status >= 300 || typeof body !== 'object' || body === null) return false;
  return '_id' in body && typeof body._id === 'string' && 'name' in body && typeof body.name === 'string';
}
