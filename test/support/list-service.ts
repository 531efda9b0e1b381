// A Planning Service that knows what was really lost or made twice, whatever its lists show and however it answers.
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './loopback.ts';

export interface ListedEntry {
  readonly _id: string;
  readonly accountId: string;
  readonly name: string;
}

export interface ListedPerson {
  readonly _id: string;
  readonly accountId: string;
  readonly skillsIds?: readonly string[];
  readonly roleId?: string | null;
  readonly workingDays: readonly number[];
  readonly dailyCapacity: number;
}

/** The three lists, by the last part of their paths. */
export interface Lists {
  readonly skill: readonly ListedEntry[];
  readonly role: readonly ListedEntry[];
  readonly resource: readonly ListedPerson[];
}

/** What people have: the names of their skills, and of their role. */
export interface People {
  readonly [person: string]: { readonly skills: readonly string[]; readonly role: string | null };
}

export interface Catalog {
  readonly skills: readonly string[];
  readonly roles: readonly string[];
  readonly people: People;
}

/** What the lists show instead of the truth, in the next `readings` of each list. */
export interface View {
  readonly show: (truth: Lists) => Lists;
  readonly readings: number;
}

/** How the service carries out a create, and how it answers. */
export interface CreateManner {
  /** The name under which the entry is stored. */
  readonly store?: (name: string) => string;
  readonly answer?: 'entry' | 'lost' | 'redirect';
}

export interface ListService {
  readonly url: string;
  /** Replaces the account, forgets what was written, and shows the truth again. The same catalog gets the same ids. */
  reset(catalog: Catalog): void;
  show(view: View | null): void;
  answerCreates(manner: CreateManner): void;
  truth(): Lists;
  /** What a delete took from somebody: `PERSON: NAME`. */
  lost(): readonly string[];
  /** The requested names of all creates, oldest first. Each create made an entry. */
  creates(): readonly string[];
  /** The requested names of the creates that made an entry although one of that name existed. */
  duplicates(): readonly string[];
}

const ACCOUNT = '4711';

/** Starts a service that ends with the test. */
export async function startListService(): Promise<ListService> {
  let truth: Lists = { skill: [], role: [], resource: [] };
  let view: View | null = null;
  let manner: CreateManner = {};
  let read: Record<keyof Lists, number> = { skill: 0, role: 0, resource: 0 };
  let count = 0;
  const lost: string[] = [];
  const creates: string[] = [];
  const duplicates: string[] = [];
  /** The requested names of the entries that exist; the stored names can differ. */
  const requested = new Map<string, string>();

  function add(name: string): ListedEntry {
    count += 1;
    const entry = { _id: `id-${count}`, accountId: ACCOUNT, name: manner.store?.(name) ?? name };
    requested.set(entry._id, name);
    return entry;
  }

  function create(kind: 'skill' | 'role', name: string): ListedEntry {
    creates.push(name);
    if (truth[kind].some(({ _id }) => requested.get(_id) === name)) duplicates.push(name);
    const entry = add(name);
    truth = { ...truth, [kind]: [...truth[kind], entry] };
    return entry;
  }

  function remove(kind: 'skill' | 'role', id: string): void {
    const holders = truth.resource.filter(({ skillsIds = [], roleId }) =>
      kind === 'skill' ? skillsIds.includes(id) : roleId === id,
    );
    lost.push(...holders.map((person) => `${person._id}: ${requested.get(id) ?? id}`));
    truth = {
      ...truth,
      [kind]: truth[kind].filter(({ _id }) => _id !== id),
      resource: truth.resource.map((person) => ({
        ...person,
        skillsIds: (person.skillsIds ?? []).filter((each) => kind !== 'skill' || each !== id),
        roleId: kind === 'role' && person.roleId === id ? null : (person.roleId ?? null),
      })),
    };
  }

  function list(name: keyof Lists): unknown {
    const isWrong = view !== null && read[name] < view.readings;
    read[name] += 1;
    return (isWrong ? (view?.show(truth) ?? truth) : truth)[name];
  }

  function answerCreate(kind: 'skill' | 'role', name: string, response: ServerResponse): void {
    const { answer = 'entry' } = manner;
    const entry = create(kind, name);
    if (answer === 'lost') response.socket?.destroy();
    else if (answer === 'redirect') response.writeHead(302, { location: '/login' }).end();
    else send(response, entry);
  }

  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const [, name, id] =
        /^\/api\/public\/v1\/(skill|role|resource)(?:\/(.+))?$/.exec(request.url ?? '') ?? [];
      if (name === 'resource') send(response, list(name));
      else if (name !== 'skill' && name !== 'role') response.writeHead(404).end();
      else if (request.method === 'POST') answerCreate(name, nameIn(body), response);
      else if (request.method === 'DELETE') {
        remove(name, decodeURIComponent(id ?? ''));
        send(response, 'deleted');
      } else send(response, list(name));
    });
  });

  return {
    url: await listen(server),
    reset({ skills, roles, people }) {
      [view, manner, count] = [null, {}, 0];
      for (const written of [lost, creates, duplicates]) written.length = 0;
      requested.clear();
      const [skill, role] = [skills.map(add), roles.map(add)];
      const idOf = (entries: readonly ListedEntry[], name: string | null): string | null =>
        entries.find((entry) => entry.name === name)?._id ?? null;
      const resource = Object.entries(people).map(([person, has]): ListedPerson => ({
        _id: person,
        accountId: ACCOUNT,
        skillsIds: has.skills.flatMap((name) => idOf(skill, name) ?? []),
        roleId: idOf(role, has.role),
        workingDays: [0, 1, 2, 3, 4],
        dailyCapacity: 8,
      }));
      truth = { skill, role, resource };
    },
    show(next) {
      view = next;
      read = { skill: 0, role: 0, resource: 0 };
    },
    answerCreates(next) {
      manner = next;
    },
    truth: () => truth,
    lost: () => [...lost],
    creates: () => [...creates],
    duplicates: () => [...duplicates],
  };
}

function send(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function nameIn(body: string): string {
  const value: unknown = JSON.parse(body);
  return typeof value === 'object' && value !== null && 'name' in value ? String(value.name) : '';
}
