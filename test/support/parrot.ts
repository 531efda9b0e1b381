// A service that repeats secrets in its responses. Each account is a folder of its address and responds in its own way.
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { CURRENCY, SALARIES } from './canary.ts';
import { listen } from './loopback.ts';

/** One response; omitted fields are those of a correct service. */
export interface Reply {
  readonly status?: number;
  /** The reason phrase beside the status. */
  readonly phrase?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
  /** Bytes in place of a response; the connection ends after them. */
  readonly raw?: string;
}

export type RequestKind = 'skill' | 'role' | 'resource' | 'create' | 'delete';

/** The responses of an account to each kind of request; each receives the Authorization header of the request. */
export type Manner = { readonly [K in RequestKind]?: (authorization: string) => Reply };

export interface Parrot {
  readonly url: string;
  /** The requests, as `manner METHOD path`, oldest first. */
  requests(): readonly string[];
  /** The accounts whose own manner was used. */
  usedManners(): ReadonlySet<string>;
  /** The Authorization header of every request, `-` where there was none. */
  authorizations(): readonly string[];
  /** The headers and raw bodies that were posted to other paths than those of accounts. */
  posted(): readonly string[];
}

const [AMOUNT = 0, SECOND = 0, THIRD = 0, FOURTH = 0, FIFTH = 0] = SALARIES;

/** A person with a salary in the documented field and in many other fields. */
function person(id: string, skillsIds: readonly string[]): object {
  return {
    _id: id,
    accountId: '77',
    workingDays: [0, 1, 2],
    dailyCapacity: 8,
    skillsIds,
    roleId: 'r1',
    calendarsIds: [],
    salary: { amount: AMOUNT, currency: CURRENCY, period: 'yearly' },
    Salary: String(SECOND),
    salaries: [{ amount: THIRD }, FOURTH],
    pay: { salary: { amount: FIFTH } },
    compensation: AMOUNT,
    note: `earns ${SECOND} ${CURRENCY} a year`,
  };
}

/** The undocumented fields of skills and roles. */
const UNDOCUMENTED = {
  salaryBand: { from: AMOUNT, to: SECOND, currency: CURRENCY },
  pay: { Salary: String(THIRD), baseSalary: [FOURTH, { salary: FIFTH }] },
  'averageSalary ': `${AMOUNT} ${CURRENCY}`,
};

export const PEOPLE = [person('p1', ['s1', 's2']), person('p2', ['s2'])];

/** Every account has an id of its own; the ids of its entries are those of all others. */
function idOf(account: string): string {
  return `77-${account}`;
}

/** Starts a parrot that ends with the test. */
export async function startParrot(manners: Readonly<Record<string, Manner>>): Promise<Parrot> {
  const requests: string[] = [];
  const authorizations: string[] = [];
  const usedManners = new Set<string>();
  const posted: string[] = [];
  const catalogs = new Map<string, Map<string, object>>();
  let count = 0;

  function catalogOf(account: string, authorization: string): Map<string, object> {
    const known = catalogs.get(account);
    if (known !== undefined) return known;
    const echo = { ...UNDOCUMENTED, echo: { authorization } };
    const entry = (id: string, name: string): object => ({
      _id: id,
      accountId: idOf(account),
      name,
      createDate: '2026-01-01T00:00:00Z',
      ...echo,
    });
    const made = new Map([
      ['skill/s1', entry('s1', 'Go')],
      ['skill/s2', entry('s2', 'Perl')],
      ['skill/s3', entry('s3', 'Old')],
      ['role/r1', entry('r1', 'Dev')],
    ]);
    catalogs.set(account, made);
    return made;
  }

  function correctAnswer(
    account: string,
    what: RequestKind,
    path: string,
    body: string,
    authorization: string,
  ): unknown {
    const catalog = catalogOf(account, authorization);
    const [kind = '', id = ''] = path.split('/');
    if (what === 'resource')
      return PEOPLE.map((one) => ({ ...one, accountId: idOf(account), echo: authorization }));
    if (what === 'create') {
      count += 1;
      const created = {
        _id: `new-${count}`,
        accountId: idOf(account),
        name: nameIn(body),
        ...UNDOCUMENTED,
        authorization,
      };
      catalog.set(`${kind}/new-${count}`, created);
      return created;
    }
    if (what === 'delete')
      return catalog.delete(`${kind}/${id}`) ? `gone; ${authorization} asked` : 'nothing there';
    return [...catalog].flatMap(([key, entry]) => (key.startsWith(`${what}/`) ? [entry] : []));
  }

  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const [, account = '', path = ''] = /^\/([^/]+)\/api\/public\/v1\/(.*)$/.exec(request.url ?? '') ?? [];
      const authorization = request.headers.authorization ?? '-';
      requests.push(`${account} ${request.method} ${path === '' ? request.url : path}`);
      authorizations.push(authorization);
      if (path === '') {
        posted.push(`${JSON.stringify(request.headers)}\n${body}`);
        response.writeHead(200).end();
        return;
      }
      const what = kindOf(request.method ?? '', path);
      const manner = manners[account]?.[what];
      if (manner !== undefined) usedManners.add(account);
      const reply = manner?.(authorization) ?? {};
      const answer = 'body' in reply ? reply.body : correctAnswer(account, what, path, body, authorization);
      send(
        response,
        reply,
        typeof answer === 'string' && 'body' in reply ? answer : JSON.stringify(answer),
        authorization,
      );
    });
  });
  return {
    url: await listen(server),
    requests: () => [...requests],
    usedManners: () => usedManners,
    authorizations: () => [...authorizations],
    posted: () => [...posted],
  };
}

/** Every response repeats the token in its headers. */
function send(response: ServerResponse, reply: Reply, text: string, authorization: string): void {
  if (reply.raw !== undefined) {
    response.socket?.end(reply.raw);
    return;
  }
  const echo = {
    'x-echo': authorization,
    link: `<http://127.0.0.1:1/${authorization}>; rel="help"`,
    'set-cookie': authorization,
  };
  response.statusMessage = reply.phrase ?? 'said';
  response.writeHead(reply.status ?? 200, {
    'content-type': 'application/json',
    ...echo,
    ...reply.headers,
  });
  response.end(text);
}

function kindOf(method: string, path: string): RequestKind {
  if (method === 'POST') return 'create';
  if (method === 'DELETE') return 'delete';
  return path === 'skill' || path === 'role' ? path : 'resource';
}

function nameIn(body: string): unknown {
  const value: unknown = JSON.parse(body);
  return typeof value === 'object' && value !== null && 'name' in value ? value.name : null;
}
