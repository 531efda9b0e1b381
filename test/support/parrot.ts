// A service that repeats what it should keep to itself: each account of it, a folder of its address, has its own way.
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { CURRENCY, SALARIES } from './canary.ts';
import { listen } from './loopback.ts';

/** One answer; what is left out is as a good service has it. */
export interface Speech {
  readonly status?: number;
  /** The reason phrase beside the status. */
  readonly phrase?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
  /** Bytes in place of an answer; the connection ends after them. */
  readonly raw?: string;
}

export type Asked = 'skill' | 'role' | 'resource' | 'create' | 'delete';

/** What an account answers to one sort of request, told the Authorization header that came with it. */
export type Manner = { readonly [K in Asked]?: (authorization: string) => Speech };

export interface Parrot {
  readonly url: string;
  /** What was asked, as `manner METHOD path`, oldest first. */
  asked(): readonly string[];
  /** The accounts whose own manner was heard. */
  heard(): ReadonlySet<string>;
  /** The Authorization header of every request, `-` where there was none. */
  authorizations(): readonly string[];
  /** The raw bodies that were posted to what is no account. */
  posted(): readonly string[];
}

const [AMOUNT = 0, SECOND = 0, THIRD = 0, FOURTH = 0, FIFTH = 0] = SALARIES;

/** A person with a salary in the documented place and in all places that a service may think of. */
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

/** What skills and roles carry besides their documented fields. */
const UNDOCUMENTED = {
  salaryBand: { from: AMOUNT, to: SECOND, currency: CURRENCY },
  pay: { Salary: String(THIRD), baseSalary: [FOURTH, { salary: FIFTH }] },
  'averageSalary ': `${AMOUNT} ${CURRENCY}`,
};

export const PEOPLE = [person('p1', ['s1', 's2']), person('p2', ['s2'])];

/** Starts a parrot that ends with the test. */
export async function startParrot(manners: Readonly<Record<string, Manner>>): Promise<Parrot> {
  const asked: string[] = [];
  const authorizations: string[] = [];
  const heard = new Set<string>();
  const posted: string[] = [];
  const books = new Map<string, Map<string, object>>();
  let count = 0;

  function bookOf(account: string, authorization: string): Map<string, object> {
    const known = books.get(account);
    if (known !== undefined) return known;
    const echo = { ...UNDOCUMENTED, echo: { authorization } };
    const entry = (id: string, name: string): object => ({
      _id: id,
      accountId: '77',
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
    books.set(account, made);
    return made;
  }

  function good(account: string, what: Asked, path: string, body: string, authorization: string): unknown {
    const book = bookOf(account, authorization);
    const [kind = '', id = ''] = path.split('/');
    if (what === 'resource') return PEOPLE.map((one) => ({ ...one, echo: authorization }));
    if (what === 'create') {
      count += 1;
      const created = {
        _id: `new-${count}`,
        accountId: '77',
        name: nameIn(body),
        ...UNDOCUMENTED,
        authorization,
      };
      book.set(`${kind}/new-${count}`, created);
      return created;
    }
    if (what === 'delete')
      return book.delete(`${kind}/${id}`) ? `gone; ${authorization} asked` : 'nothing there';
    return [...book].flatMap(([key, entry]) => (key.startsWith(`${what}/`) ? [entry] : []));
  }

  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const [, account = '', path = ''] = /^\/([^/]+)\/api\/public\/v1\/(.*)$/.exec(request.url ?? '') ?? [];
      const authorization = request.headers.authorization ?? '-';
      asked.push(`${account} ${request.method} ${path === '' ? request.url : path}`);
      authorizations.push(authorization);
      if (path === '') {
        posted.push(`${JSON.stringify(request.headers)}\n${body}`);
        response.writeHead(200).end();
        return;
      }
      const what = askedFor(request.method ?? '', path);
      const manner = manners[account]?.[what];
      if (manner !== undefined) heard.add(account);
      const speech = manner?.(authorization) ?? {};
      const answer = 'body' in speech ? speech.body : good(account, what, path, body, authorization);
      say(
        response,
        speech,
        typeof answer === 'string' && 'body' in speech ? answer : JSON.stringify(answer),
        authorization,
      );
    });
  });
  return {
    url: await listen(server),
    asked: () => [...asked],
    heard: () => heard,
    authorizations: () => [...authorizations],
    posted: () => [...posted],
  };
}

/** Every answer repeats the token where headers can hold it. */
function say(response: ServerResponse, speech: Speech, text: string, authorization: string): void {
  if (speech.raw !== undefined) {
    response.socket?.end(speech.raw);
    return;
  }
  const echo = {
    'x-echo': authorization,
    link: `<http://127.0.0.1:1/${authorization}>; rel="help"`,
    'set-cookie': authorization,
  };
  response.statusMessage = speech.phrase ?? 'said';
  response.writeHead(speech.status ?? 200, {
    'content-type': 'application/json',
    ...echo,
    ...speech.headers,
  });
  response.end(text);
}

function askedFor(method: string, path: string): Asked {
  if (method === 'POST') return 'create';
  if (method === 'DELETE') return 'delete';
  return path === 'skill' || path === 'role' ? path : 'resource';
}

function nameIn(body: string): unknown {
  const value: unknown = JSON.parse(body);
  return typeof value === 'object' && value !== null && 'name' in value ? value.name : null;
}
