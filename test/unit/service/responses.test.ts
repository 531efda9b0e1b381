// The validation of responses, and the fields that are kept.
import { describe, expect, it } from 'vitest';
import type { Kind } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { Secret } from '../../../src/core/secret.ts';
import { readJson } from '../../../src/service/body.ts';
import { toEntries, toResources } from '../../../src/service/responses.ts';
import { client, serve, TOKEN } from './loopback.ts';

const NO_TOKEN = new Secret('');
/** A body that arrives in two pieces. */
async function* inPieces(text: string) {
  const bytes = Buffer.from(text);
  const middle = Math.floor(bytes.length / 2);
  yield bytes.subarray(0, middle);
  yield bytes.subarray(middle);
}

const parseEntries = async (kind: Kind, text: string, token: Secret) =>
  toEntries(`the list of ${kind}s`, await readJson('the list of skills', inPieces(text)), token);
const parseResources = async (text: string, token: Secret) =>
  toResources('the list of resources', await readJson('the list of resources', inPieces(text)), token);
const entriesOf = (kind: Kind, text: string) => parseEntries(kind, text, NO_TOKEN);

const SECRET = 'Zyx-salary-98765';

async function refusal(parse: () => Promise<unknown>): Promise<ServiceError> {
  try {
    await parse();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

const MALFORMED: [string, string][] = [
  ['nothing', ''],
  ['no JSON', `<html>${SECRET}</html>`],
  ['JSON that is cut off', `[{"_id":"1","name":"${SECRET}"},{"_id`],
  ['an object', `{"detail":"${SECRET}"}`],
  ['a string', `"${SECRET}"`],
  ['null', 'null'],
  ['an item that is null', '[null]'],
  ['an item that is a string', `["${SECRET}"]`],
  ['an item that is a list', `[["${SECRET}"]]`],
  ['an item without _id', `[{"name":"${SECRET}"}]`],
  ['an item with an empty _id', `[{"_id":"","name":"${SECRET}"}]`],
  ['an item with an _id that is not valid Unicode', `[{"_id":"\\ud800","name":"${SECRET}"}]`],
  ['an item with an _id that is a number', `[{"_id":1,"name":"${SECRET}"}]`],
];

describe('a list of skills or roles', async () => {
  it.each([
    ...MALFORMED,
    ['an item without a name', `[{"_id":"1","x":"${SECRET}"}]`],
    ['a name that is a number', '[{"_id":"1","name":5}]'],
    ['a name that is null', `[{"_id":"1","name":null,"x":"${SECRET}"}]`],
  ])('is refused when it is or has %s, and the error quotes nothing of it', async (_, text) => {
    const error = await refusal(() => entriesOf('skill', text));
    expect(error).toMatchObject({ kind: 'malformed', code: 'malformed_response' });
    expect(error.message).not.toContain('Zyx');
    expect(error.message).toContain('skills');
    expect(String(error.cause)).not.toContain('Zyx');
  });

  it('needs no optional field', async () => {
    expect((await entriesOf('role', '[{"_id":"1","name":"a"}]')).items).toEqual([
      { id: '1', name: 'a', raw: { _id: '1', name: 'a' } },
    ]);
  });

  it('keeps unknown fields for snapshots, but no salary at any depth', async () => {
    const text = JSON.stringify([
      {
        _id: '1',
        name: 'a',
        accountId: '42',
        createDate: 'whenever',
        colour: { deep: [{ salary: SECRET, Salary_amount: SECRET, ok: 1 }] },
        baseSalary: SECRET,
        salaries: [SECRET],
      },
    ]);
    const [entry] = (await entriesOf('skill', text)).items;
    expect(entry).toMatchObject({ id: '1', name: 'a', accountId: '42', createDate: 'whenever' });
    expect(entry?.raw).toMatchObject({ colour: { deep: [{ ok: 1 }] } });
    expect(JSON.stringify(entry)).not.toContain('Zyx');
    expect(JSON.stringify(entry)).not.toMatch(/salar/i);
  });

  it('keeps names unchanged, also empty ones and other Unicode forms', async () => {
    const names = ['', ' a ', 'Cafe\u0301', '\u0000'];
    const text = JSON.stringify(names.map((name, index) => ({ _id: String(index), name })));
    expect((await entriesOf('skill', text)).items.map(({ name }) => name)).toEqual(names);
  });

  it('counts an _id that is listed twice once, with a warning', async () => {
    const { items, warnings } = await entriesOf('skill', '[{"_id":"1","name":"a"},{"_id":"1","name":"a"}]');
    expect(items).toHaveLength(1);
    expect(warnings).toMatchObject([{ code: 'repeated_id' }]);
  });

  it('accepts an accountId that is a number', async () => {
    expect((await entriesOf('skill', '[{"_id":"1","name":"a","accountId":42}]')).items[0]?.accountId).toBe(
      '42',
    );
  });
});

describe('the list of resources', async () => {
  it.each([
    ...MALFORMED,
    ['skillsIds that are a string', `[{"_id":"1","skillsIds":"${SECRET}"}]`],
    ['skillsIds that are numbers', '[{"_id":"1","skillsIds":[1]}]'],
    ['a roleId that is a number', '[{"_id":"1","roleId":7}]'],
    ['a roleId that is a list', `[{"_id":"1","roleId":["${SECRET}"]}]`],
  ])('is refused when it is or has %s, and the error quotes nothing of it', async (_, text) => {
    const error = await refusal(() => parseResources(text, NO_TOKEN));
    expect(error.kind).toBe('malformed');
    expect(error.message).not.toContain('Zyx');
  });

  it('keeps the documented fields, drops the others and names them once', async () => {
    const person = {
      _id: 'p',
      accountId: '42',
      create_date: '2024-01-01',
      roleId: 'r',
      skillsIds: ['s'],
      workingDays: [0, 1],
      dailyCapacity: 7.5,
      calendarsIds: ['c'],
      salary: { amount: SECRET, currency: 'USD' },
      email: SECRET,
      salaryHistory: [SECRET],
    };
    const { items, warnings } = await parseResources(
      JSON.stringify([person, { ...person, _id: 'q' }]),
      NO_TOKEN,
    );
    expect(items[0]).toMatchObject({ id: 'p', accountId: '42', skillsIds: ['s'], roleId: 'r' });
    expect(Object.keys(items[0]?.raw ?? {})).toEqual([
      '_id',
      'accountId',
      'create_date',
      'roleId',
      'skillsIds',
      'workingDays',
      'dailyCapacity',
      'calendarsIds',
    ]);
    expect(JSON.stringify([items, warnings])).not.toContain('Zyx');
    expect(warnings).toMatchObject([{ code: 'unknown_fields' }]);
    expect(warnings[0]?.message).toContain('email');
    expect(warnings[0]?.message).not.toMatch(/salar/i);
  });

  it('drops an object in a documented field, because it may be a salary, and names the field', async () => {
    const amount = { amount: SECRET, currency: 'XQZ', period: 'yearly' };
    const fields = {
      calendarsIds: ['c', { x: { SALARY: SECRET } }],
      workingDays: { salary: SECRET },
      dailyCapacity: amount,
      create_date: [[amount]],
    };
    const { items, warnings } = await parseResources(JSON.stringify([{ _id: 'p', ...fields }]), NO_TOKEN);
    expect(items[0]?.raw).toEqual({ _id: 'p' });
    expect(warnings[0]?.message).toMatch(/calendarsIds, create_date, dailyCapacity, workingDays$/);
    expect(JSON.stringify([items, warnings])).not.toMatch(/Zyx|XQZ/);
  });

  it('distinguishes an absent field from an empty one', async () => {
    const listing = await parseResources('[{"_id":"p"},{"_id":"q","skillsIds":[],"roleId":null}]', NO_TOKEN);
    const [absent, empty] = listing.items;
    expect([
      absent !== undefined && 'skillsIds' in absent,
      absent !== undefined && 'roleId' in absent,
    ]).toEqual([false, false]);
    expect(empty).toMatchObject({ skillsIds: [], roleId: null });
  });

  it('gives a person who is listed twice all skills of both listings', async () => {
    const { items, warnings } = await parseResources(
      '[{"_id":"p","skillsIds":["a"]},{"_id":"p","skillsIds":["b"],"roleId":"r"}]',
      NO_TOKEN,
    );
    expect(items).toMatchObject([{ id: 'p', skillsIds: ['a', 'b'], roleId: 'r' }]);
    expect(warnings).toMatchObject([{ code: 'repeated_id' }]);
  });
});

/** The outcome of a create that is answered with this text. */
async function createdBy(text: string) {
  const server = await serve((response) => void response.writeHead(201).end(text));
  return await (await client(server.url)).writer.create('skill', 'a', () => true);
}

describe('the answer of a create', async () => {
  it('is an entry, without a salary', async () => {
    const fields = { _id: '1', name: 'a', accountId: '42', salary: SECRET };
    const outcome = await createdBy(`\n${JSON.stringify(fields)}\n`);
    expect(outcome).toMatchObject({ type: 'created', entry: { id: '1', name: 'a', accountId: '42' } });
    expect(JSON.stringify(outcome)).not.toContain('Zyx');
  });

  it.each([
    '',
    '{',
    '[]',
    'null',
    '{"_id":1,"name":"a"}',
    '{"_id":"","name":"a"}',
    '{"_id":"\\ud800","name":"a"}',
    '{"name":"a"}',
    '{"_id":"1"}',
    '[{"_id":"1","name":"a"}]',
    '{"_id":"1","name":"a"},',
    '{"_id":"1","name":"a"},{"_id":"2","name":"a"}',
    '{"_id":"1","name":"a"}]',
    '],[{"_id":"1","name":"a"}',
    '{"_id":"1","name":"a","accountId":9007199254740993}',
    JSON.stringify({ _id: '1', name: `Bearer ${TOKEN}` }),
  ])('is not an entry when it is %j', async (text) => {
    expect(await createdBy(text)).toMatchObject({ type: 'doubtful', httpStatus: 201, attempts: 1 });
  });
});

describe('an answer with the token in it', async () => {
  const token = new Secret('tok-3n/s3cret');
  const listed = { _id: '1', accountId: '42', name: 'Go', createDate: 'x', roleId: 'r', skillsIds: ['s'] };

  it.each([
    ['_id', { _id: 'a tok-3n/s3cret' }],
    ['name', { name: 'Bearer tok-3n/s3cret' }],
    ['accountId', { accountId: 'tok-3n/s3cret' }],
  ])('is not an entry when the token is in its %s', async (_, fields) => {
    const item = { ...listed, ...fields };
    expect((await refusal(() => parseEntries('skill', JSON.stringify([item]), token))).message).toContain(
      'has the token in a name or an id',
    );
  });

  it.each([
    ['_id', { _id: 'tok-3n/s3cret' }],
    ['roleId', { roleId: 'tok-3n/s3cret' }],
    ['skillsIds', { skillsIds: ['s', 'tok-3n/s3cret'] }],
  ])('is not a person when the token is in its %s', async (_, fields) => {
    const text = JSON.stringify([{ ...listed, ...fields }]);
    expect((await refusal(() => parseResources(text, token))).message).toContain(
      'has the token in a name or an id',
    );
  });

  it('is kept without the token when it is in any other field', async () => {
    const echoes = {
      [`x${token.reveal()}`]: 1,
      create_date: [token.reveal()],
      accountId: [token.reveal()],
    };
    const people = await parseResources(JSON.stringify([{ ...listed, ...echoes }]), token);
    const skills = await parseEntries(
      'skill',
      JSON.stringify([{ ...listed, ...echoes, createDate: [token.reveal()] }]),
      token,
    );
    expect(JSON.stringify([people, skills])).not.toContain('s3cret');
    expect(people.items[0]?.raw).toMatchObject({
      create_date: ['[redacted]'],
      roleId: 'r',
      skillsIds: ['s'],
    });
  });
});
