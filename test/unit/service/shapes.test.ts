// What an answer must look like, and what of it is kept. Nothing that is refused is quoted.
import { describe, expect, it } from 'vitest';
import type { Kind } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { Secret } from '../../../src/core/secret.ts';
import { errorMessage, parseCreated, parseEntries, parseResources } from '../../../src/service/shapes.ts';

const plainly = (text: string): string => text;
const NO_TOKEN = new Secret('');
const entriesOf = (kind: Kind, text: string) => parseEntries(kind, text, NO_TOKEN);

const SECRET = 'Zyx-salary-98765';

function refusal(parse: () => unknown): ServiceError {
  try {
    parse();
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
  ['an item with an _id that is no Unicode text', `[{"_id":"\\ud800","name":"${SECRET}"}]`],
  ['an item with an _id that is a number', `[{"_id":1,"name":"${SECRET}"}]`],
];

describe('a list of skills or roles', () => {
  it.each([
    ...MALFORMED,
    ['an item without a name', `[{"_id":"1","x":"${SECRET}"}]`],
    ['a name that is a number', '[{"_id":"1","name":5}]'],
    ['a name that is null', `[{"_id":"1","name":null,"x":"${SECRET}"}]`],
  ])('is refused when it is or has %s, and nothing of it is quoted', (_, text) => {
    const error = refusal(() => entriesOf('skill', text));
    expect(error).toMatchObject({ kind: 'malformed', code: 'malformed_response' });
    expect(error.message).not.toContain('Zyx');
    expect(error.message).toContain('skills');
    expect(error.cause).toBeUndefined();
  });

  it('needs no optional field', () => {
    expect(entriesOf('role', '[{"_id":"1","name":"a"}]').items).toEqual([
      { id: '1', name: 'a', raw: { _id: '1', name: 'a' } },
    ]);
  });

  it('keeps unknown fields for snapshots, and no salary however deep it lies', () => {
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
    const [entry] = entriesOf('skill', text).items;
    expect(entry).toMatchObject({ id: '1', name: 'a', accountId: '42', createDate: 'whenever' });
    expect(entry?.raw).toMatchObject({ colour: { deep: [{ ok: 1 }] } });
    expect(JSON.stringify(entry)).not.toContain('Zyx');
    expect(JSON.stringify(entry)).not.toMatch(/salar/i);
  });

  it('takes names as they are, also empty ones and those in other forms', () => {
    const names = ['', ' a ', 'Cafe\u0301', '\u0000'];
    const text = JSON.stringify(names.map((name, index) => ({ _id: String(index), name })));
    expect(entriesOf('skill', text).items.map(({ name }) => name)).toEqual(names);
  });

  it('counts an _id that is listed twice once, with a warning', () => {
    const { items, warnings } = entriesOf('skill', '[{"_id":"1","name":"a"},{"_id":"1","name":"a"}]');
    expect(items).toHaveLength(1);
    expect(warnings).toMatchObject([{ code: 'repeated_id' }]);
  });

  it('shows the same entry for an _id that is listed twice, whatever the order', () => {
    const one = { _id: '1', name: 'a' };
    const other = { _id: '1', name: 'b' };
    const names = [
      [one, other],
      [other, one],
    ].map((list) => entriesOf('skill', JSON.stringify(list)).items.map(({ name }) => name));
    expect(names[1]).toEqual(names[0]);
  });

  it('takes an accountId that is a number', () => {
    expect(entriesOf('skill', '[{"_id":"1","name":"a","accountId":42}]').items[0]?.accountId).toBe('42');
  });
});

describe('the list of resources', () => {
  it.each([
    ...MALFORMED,
    ['skillsIds that are a string', `[{"_id":"1","skillsIds":"${SECRET}"}]`],
    ['skillsIds that are numbers', '[{"_id":"1","skillsIds":[1]}]'],
    ['a roleId that is a number', '[{"_id":"1","roleId":7}]'],
    ['a roleId that is a list', `[{"_id":"1","roleId":["${SECRET}"]}]`],
  ])('is refused when it is or has %s, and nothing of it is quoted', (_, text) => {
    const error = refusal(() => parseResources(text, NO_TOKEN));
    expect(error.kind).toBe('malformed');
    expect(error.message).not.toContain('Zyx');
  });

  it('keeps the documented fields, drops the others and names them once', () => {
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
    const { items, warnings } = parseResources(JSON.stringify([person, { ...person, _id: 'q' }]), NO_TOKEN);
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

  it('takes a salary out of documented fields too', () => {
    const text = JSON.stringify([
      { _id: 'p', calendarsIds: [{ x: { SALARY: SECRET } }], workingDays: { salary: SECRET } },
    ]);
    expect(JSON.stringify(parseResources(text, NO_TOKEN))).not.toContain('Zyx');
  });

  it('tells an absent field from an empty one', () => {
    const [absent, empty] = parseResources(
      '[{"_id":"p"},{"_id":"q","skillsIds":[],"roleId":null}]',
      NO_TOKEN,
    ).items;
    expect([
      absent !== undefined && 'skillsIds' in absent,
      absent !== undefined && 'roleId' in absent,
    ]).toEqual([false, false]);
    expect(empty).toMatchObject({ skillsIds: [], roleId: null });
  });

  it('gives a person who is listed twice all skills of both listings', () => {
    const { items, warnings } = parseResources(
      '[{"_id":"p","skillsIds":["a"]},{"_id":"p","skillsIds":["b"],"roleId":"r"}]',
      NO_TOKEN,
    );
    expect(items).toMatchObject([{ id: 'p', skillsIds: ['a', 'b'], roleId: 'r' }]);
    expect(warnings).toMatchObject([{ code: 'repeated_id' }]);
  });

  it('shows the same of a person who is listed twice, whatever the order', () => {
    const one = { _id: 'p', skillsIds: ['a'], roleId: 'r1' };
    const other = { _id: 'p', skillsIds: ['b'], roleId: 'r2' };
    const [first, second] = [
      [one, other],
      [other, one],
    ].map((list) => parseResources(JSON.stringify(list), NO_TOKEN).items[0]);
    expect(second?.roleId).toBe(first?.roleId);
    expect(second?.skillsIds?.toSorted()).toEqual(first?.skillsIds?.toSorted());
  });
});

describe('the answer of a create', () => {
  it('is an entry, without a salary', () => {
    const entry = parseCreated(
      JSON.stringify({ _id: '1', name: 'a', accountId: '42', salary: SECRET }),
      NO_TOKEN,
    );
    expect(entry).toMatchObject({ id: '1', name: 'a', accountId: '42' });
    expect(JSON.stringify(entry)).not.toContain('Zyx');
  });

  it.each(['', '{', '[]', 'null', '{"_id":1,"name":"a"}', '{"name":"a"}', '{"_id":"1"}'])(
    'is none when it is %j',
    (text) => {
      expect(parseCreated(text, NO_TOKEN)).toBeUndefined();
    },
  );
});

describe('an answer with the token in it', () => {
  const token = new Secret('tok-3n/s3cret');
  const listed = { _id: '1', accountId: '42', name: 'Go', createDate: 'x', roleId: 'r', skillsIds: ['s'] };

  it.each([
    ['_id', { _id: 'a tok-3n/s3cret' }],
    ['name', { name: 'Bearer tok-3n/s3cret' }],
    ['accountId', { accountId: 'tok-3n/s3cret' }],
  ])('is no entry when it stands in its %s', (_, fields) => {
    const item = { ...listed, ...fields };
    expect(refusal(() => parseEntries('skill', JSON.stringify([item]), token)).message).toContain(
      'token itself',
    );
    expect(parseCreated(JSON.stringify(item), token)).toBeUndefined();
  });

  it.each([
    ['_id', { _id: 'tok-3n/s3cret' }],
    ['roleId', { roleId: 'tok-3n/s3cret' }],
    ['skillsIds', { skillsIds: ['s', 'tok-3n/s3cret'] }],
  ])('is no person when it stands in their %s', (_, fields) => {
    const text = JSON.stringify([{ ...listed, ...fields }]);
    expect(refusal(() => parseResources(text, token)).message).toContain('token itself');
  });

  it('is kept without it wherever else it stands', () => {
    const echoes = {
      [`x${token.reveal()}`]: 1,
      create_date: { by: [token.reveal()] },
      accountId: [token.reveal()],
    };
    const people = parseResources(JSON.stringify([{ ...listed, ...echoes }]), token);
    const skills = parseEntries(
      'skill',
      JSON.stringify([{ ...listed, ...echoes, createDate: [token.reveal()] }]),
      token,
    );
    expect(JSON.stringify([people, skills])).not.toContain('s3cret');
    expect(people.items[0]?.raw).toMatchObject({
      create_date: { by: ['[redacted]'] },
      roleId: 'r',
      skillsIds: ['s'],
    });
  });
});

describe('the message of an error', () => {
  const said = (body: unknown, scrub = plainly) => errorMessage(JSON.stringify(body), scrub);

  it('is what the validation error says, and not what it was given', () => {
    const detail = [
      { loc: ['body', 'name'], msg: 'too short', type: 'x', input: SECRET, ctx: { salary: SECRET } },
      { loc: ['body'], msg: 'missing', type: 'y' },
    ];
    expect(said({ detail })).toBe('body.name: too short; body: missing');
  });

  it.each([
    { detail: SECRET },
    { message: SECRET },
    { detail: [] },
    { detail: [{ input: SECRET }] },
    { detail: [SECRET] },
    [SECRET],
    SECRET,
    null,
  ])('of another shape quotes nothing: %j', (body) => {
    expect(said(body) ?? '').not.toContain('Zyx');
  });

  it.each(['', '<html>Zyx', '{"detail":[{"msg":"Zyx"'])('of what does not parse is none: %j', (text) => {
    expect(errorMessage(text, plainly)).toBeUndefined();
  });

  it('is scrubbed and short', () => {
    const detail = [{ msg: `token ${'x'.repeat(9999)}` }];
    const message = said({ detail }, (text) => text.replaceAll('token', '[redacted]'));
    expect([message?.length, message?.startsWith('[redacted] xxx')]).toEqual([300, true]);
  });
});
