// Responses of a service that quotes the request's token and people's salaries in every part of a response.
import { deflateSync } from 'node:zlib';
import { CURRENCY, SALARIES } from './canary.ts';
import { type RequestKind, type Manner, PEOPLE, type Reply } from './parrot.ts';

const [AMOUNT = 0, SECOND = 0] = SALARIES;
const SALARY = `the salary of p1 is ${AMOUNT} ${CURRENCY}`;

function validation(authorization: string): object {
  return {
    detail: [
      {
        loc: ['header', 'authorization', authorization],
        msg: `Invalid value ${authorization}`,
        type: `bad.${authorization}`,
        input: PEOPLE[0],
        ctx: { authorization, salary: AMOUNT },
      },
      { loc: ['body', 'salary', String(AMOUNT)], msg: SALARY, type: `salary_${SECOND}`, input: SECOND },
    ],
  };
}

/** One message with the token in every encoding, complete and in halves. */
function spellingsOf(authorization: string): object {
  const token = authorization.replace('Bearer ', '');
  const parts = [token, token.slice(0, 20), token.slice(20)];
  return {
    detail: parts.flatMap((part) =>
      [
        part,
        `x${part}x`,
        encodeURIComponent(part),
        encodeURIComponent(part).toLowerCase(),
        Buffer.from(part).toString('hex'),
        Buffer.from(part).toString('hex').toUpperCase(),
        Buffer.from(part).toString('base64'),
        Buffer.from(`:${part}`).toString('base64'),
        Buffer.from(`ab${part}`).toString('base64url'),
        JSON.stringify(part),
        JSON.stringify(JSON.stringify(part)),
        part.replaceAll('"', '&quot;').replaceAll('&', '&amp;'),
      ].map((msg) => ({ loc: ['x'], msg, type: 'x' })),
    ),
  };
}

function page(authorization: string): string {
  return `<!doctype html><html><title>${authorization}</title><body>${SALARY} ${authorization} ${JSON.stringify(PEOPLE)}</body></html>`;
}

const ERRORS: Readonly<Record<string, (authorization: string) => Reply>> = {
  validation: (authorization) => ({ body: validation(authorization), phrase: 'nothing to see' }),
  spelled: (authorization) => ({ body: spellingsOf(authorization) }),
  // The message is cut at a length that a token may lie across.
  long: (authorization) => ({
    body: { detail: [{ loc: ['x'], msg: 'y'.repeat(280) + authorization, type: 'x' }] },
  }),
  plain: (authorization) => ({
    body: { detail: `${authorization}: ${SALARY}`, error: authorization, message: SALARY, people: PEOPLE },
  }),
  html: (authorization) => ({ headers: { 'content-type': 'text/html' }, body: page(authorization) }),
  phrase: (authorization) => ({ phrase: authorization, body: authorization }),
};

/** Responses with status 200 that are not lists, or invalid lists. */
const BROKEN: Readonly<Record<string, (authorization: string) => Reply>> = {
  'no-json': (authorization) => ({
    body: `[{"_id":"p1","salary":{"amount":${AMOUNT}}},, ${authorization}, "${CURRENCY}"]`,
  }),
  cut: () => ({ body: JSON.stringify(PEOPLE).slice(0, -40) }),
  html: ERRORS['html'] ?? (() => ({})),
  object: (authorization) => ({ body: validation(authorization) }),
  text: (authorization) => ({ body: JSON.stringify(`${authorization} ${SALARY}`) }),
  numbers: () => ({ body: SALARIES }),
  'id-is-the-token': (authorization) => ({
    body: [{ _id: authorization.slice(7), accountId: '77', name: 'Go', workingDays: [] }],
  }),
  'account-is-the-token': (authorization) => ({
    body: [{ _id: 'x1', accountId: authorization.slice(7), name: 'Go' }],
  }),
  'name-is-the-token': (authorization) => ({ body: [{ _id: 'x1', accountId: '77', name: authorization }] }),
  'field-is-the-token': (authorization) => ({
    body: [
      {
        _id: 'x1',
        accountId: '77',
        name: 'Go',
        [authorization]: 1,
        [authorization.slice(27)]: 1,
        calendarsIds: [authorization],
        roleId: authorization.slice(7, 27),
        skillsIds: [`${authorization}!`],
        workingDays: [authorization],
        dailyCapacity: { Salary: AMOUNT, of: authorization },
      },
    ],
  }),
  ids: (authorization) => ({ body: [{ _id: SECOND, name: SALARY, salary: AMOUNT, authorization }] }),
  'wrong-skills': (authorization) => ({
    body: [{ _id: 'p1', name: 'Go', skillsIds: 'x', salary: AMOUNT, authorization }],
  }),
  large: () => ({ body: JSON.stringify(Array.from({ length: 300 }, () => PEOPLE)) }),
  packed: (authorization) => ({
    headers: { 'content-encoding': 'gzip' },
    body: deflateSync(authorization).toString('latin1'),
  }),
  'no-http': (authorization) => ({
    raw: `HTTP/1.1 200 OK\r\nx: ${authorization}\r\n\u0000bad ${authorization}\r\n\r\n${SALARY}`,
  }),
  'half-http': (authorization) => ({
    raw: `HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n${authorization} ${SALARY}`,
  }),
};

const STATUSES = [400, 401, 403, 404, 409, 422, 500];

export interface Answering {
  readonly name: string;
  readonly manner: Manner;
}

/** Every kind of bad response to every kind of request, each in its own account. */
export function quotingAnswers(): readonly Answering[] {
  const cases = (
    kind: RequestKind,
    answers: Readonly<Record<string, (authorization: string) => Reply>>,
  ): Answering[] =>
    Object.entries(answers).map(([what, answer]) => ({
      name: `${kind}-${what}`,
      manner: { [kind]: answer },
    }));
  const withStatus = (status: number, what: string) => (authorization: string) => ({
    status,
    ...ERRORS[what]?.(authorization),
  });
  const byStatus = (kind: RequestKind, step: number): Answering[] =>
    STATUSES.map((status, index) => {
      // For the four kinds of requests each status has four bodies.
      const kinds = Object.keys(ERRORS);
      const what = kinds[(index + step) % kinds.length] ?? '';
      return {
        name: `${kind}-${status}-${what}`,
        manner: { [kind]: withStatus(status, what) },
      };
    });
  const refused = { spelled: withStatus(422, 'spelled'), validation: withStatus(422, 'validation') };
  return [
    ...byStatus('skill', 0),
    ...byStatus('resource', 1),
    ...byStatus('create', 2),
    ...byStatus('delete', 3),
    ...cases('skill', BROKEN),
    ...cases('resource', BROKEN),
    ...cases('create', { ...BROKEN, ...refused }),
    ...cases('delete', { ...BROKEN, ...refused }),
    ...[429, 503].map((status) => ({
      name: `skill-throttled-${status}`,
      manner: {
        skill: (authorization: string) => ({
          status,
          headers: { 'retry-after': '3600', refresh: `0; url=/${authorization}` },
          body: validation(authorization),
        }),
      },
    })),
    {
      name: 'retry-after-is-the-token',
      manner: {
        skill: (authorization) => ({ status: 503, headers: { 'retry-after': authorization }, body: '' }),
      },
    },
  ];
}
