import { describe, expect, test } from 'vitest';
import { costly } from '../../support/thorough.ts';
import { ACCOUNT, SERVICE, load, loadAccount } from './workspace.ts';

describe('several accounts', () => {
  test('load although one of them is broken', async () => {
    const { accounts, lines } = await load({ 'accounts/a.yaml': 'region: [', 'accounts/b.yaml': ACCOUNT });
    expect(
      accounts.map(({ name, settings, issues }) => [name, settings !== undefined, issues.length > 0]),
    ).toEqual([
      ['a', false, true],
      ['b', true, false],
    ]);
    expect(lines[0]).toContain('accounts/a.yaml:1:');
  });

  test('cannot share an address and a token', async () => {
    const { lines, accounts } = await load({
      'accounts/a.yaml': ACCOUNT,
      'accounts/b.yaml': 'mode: plan\nbaseUrl: https://EU.example.com/\ntoken: { env: A_TOKEN }\n',
      'accounts/c.yaml': 'baseUrl: https://us.example.com\ntoken: { env: A_TOKEN }\n',
    });
    expect(lines).toEqual([
      expect.stringContaining(
        'accounts/a.yaml:2:8 error accounts/b.yaml has the same base address and token',
      ),
      expect.stringContaining(
        'accounts/b.yaml:3:8 error accounts/a.yaml has the same base address and token',
      ),
    ]);
    expect(accounts.map(({ settings }) => settings?.name)).toEqual([undefined, undefined, 'c']);
  });

  test('keep an account although an invalid file, a copy of it, has its address and token', async () => {
    const { lines, accounts } = await load({
      'accounts/a.yaml': ACCOUNT,
      'accounts/b.yaml': `${ACCOUNT}nosuch: 1\n`,
      'accounts/c.yaml': `${ACCOUNT}nosuch: 1\n`,
    });
    expect(accounts.map(({ settings }) => settings?.name)).toEqual(['a', undefined, undefined]);
    expect(lines.filter((line) => line.includes('has the same base address'))).toEqual([
      expect.stringMatching(/^accounts\/b\.yaml:2:8 error accounts\/a\.yaml has the same/u),
      expect.stringMatching(/^accounts\/c\.yaml:2:8 error accounts\/a\.yaml has the same/u),
    ]);
  });

  test('fail together when two valid files share an address and a token with an invalid one', async () => {
    const { accounts, lines } = await load({
      'accounts/a.yaml': `${ACCOUNT}nosuch: 1\n`,
      'accounts/b.yaml': ACCOUNT,
      'accounts/c.yaml': ACCOUNT,
    });
    expect(accounts.map(({ settings }) => settings)).toEqual([undefined, undefined, undefined]);
    expect(lines.filter((line) => line.includes('has the same base address'))).toEqual([
      expect.stringMatching(/^accounts\/a\.yaml:2:8 error accounts\/b\.yaml/u),
      expect.stringMatching(/^accounts\/b\.yaml:2:8 error accounts\/c\.yaml/u),
      expect.stringMatching(/^accounts\/c\.yaml:2:8 error accounts\/b\.yaml/u),
    ]);
  });

  test('cannot share a token file, however its path is written', async () => {
    const { lines } = await load({
      'accounts/a.yaml': 'region: eu\ntoken: { file: ../secret }\n',
      'accounts/b.yaml': 'region: eu\ntoken: { file: ../x/../secret }\n',
    });
    expect(lines).toHaveLength(2);
  });

  test('leave names of a catalog out, each by itself', async () => {
    const catalog = '{ file: ../c.yaml, except: { skills: [Perl, "Legacy *"] } }';
    const { accounts, lines } = await load({
      'accounts/a.yaml': `${ACCOUNT}extends: [${catalog}]\nskills: [Zig, { name: Flash, absent: true }]`,
      'accounts/b.yaml': `${ACCOUNT.replace('A_TOKEN', 'B')}extends: [../c.yaml]`,
      'c.yaml':
        'skills: [Go, Perl, Legacy PHP, Legacy C, { name: Rust, absent: true }]\nroles: [Dev, { name: Temp, absent: true }]',
    });
    expect(lines).toEqual([]);
    expect(
      accounts.map(({ settings }) => [
        settings?.desired.skill?.map(({ name }) => name),
        settings?.desired.absent,
      ]),
    ).toEqual([
      [['Go', 'Zig'], { skill: ['Rust', 'Flash'], role: ['Temp'] }],
      [['Go', 'Perl', 'Legacy PHP', 'Legacy C'], { skill: ['Rust'], role: ['Temp'] }],
    ]);
    const [a, b] = accounts.map(({ settings }) => settings?.configDigest);
    expect(a).not.toBe(b);
  });

  test('must not contradict their catalogs, and leave out only names that exist', async () => {
    const { lines } = await load({
      'accounts/a.yaml': `${ACCOUNT}extends:\n  - file: ../c.yaml\n    except: { skills: [Go, Cobol], roles: [X] }\nskills: [Perl, { name: Rust, formerly: [Flash] }]`,
      'accounts/b.yaml': `${ACCOUNT.replace('A_TOKEN', 'B')}extends: [../c.yaml]\nskills: [{ name: Go, absent: true }, { name: Zig, absent: false }, { name: X, formerly: [Y], absent: true }]`,
      'c.yaml': 'skills: [Go, { name: Perl, absent: true }, { name: Flash, absent: true }]',
    });
    expect(lines).toEqual([
      expect.stringContaining('accounts/a.yaml:5:28 error "Cobol" matches no name of the catalog'),
      expect.stringContaining('accounts/a.yaml:5:44 error "X" matches no name of the catalog'),
      expect.stringContaining(
        'accounts/a.yaml:6:10 error the skill "Perl" is wanted here and absent in c.yaml:1:22',
      ),
      expect.stringContaining(
        'accounts/a.yaml:6:41 error the skill "Flash" is both absent and in `formerly` of "Rust"',
      ),
      expect.stringContaining(
        'accounts/b.yaml:4:18 error the skill "Go" is absent here and wanted in c.yaml:1:10',
      ),
      expect.stringContaining('accounts/b.yaml:4:59 error `absent` must be true'),
      expect.stringContaining('accounts/b.yaml:4:102 error an entry that must be absent has no former names'),
    ]);
  });

  test('report an issue of a shared catalog once, and list it with each account', async () => {
    const { lines, accounts } = await load({
      'accounts/a.yaml': `${ACCOUNT}extends: [../c.yaml]`,
      'accounts/b.yaml': `${ACCOUNT.replace('A_TOKEN', 'B')}extends: [../c.yaml]`,
      'c.yaml': 'skills: [A, A]\nextends: []',
    });
    expect(lines).toEqual([
      expect.stringContaining('c.yaml:1:13 error duplicate skill "A"'),
      expect.stringContaining(
        'c.yaml:2:1 error unknown key "extends"; the keys here are allowedDeletes, roles, skills',
      ),
    ]);
    expect(accounts.map(({ issues, settings }) => [issues.length, settings])).toEqual([
      [2, undefined],
      [2, undefined],
    ]);
  });
});

describe('the merge of catalogs and the account', () => {
  test('takes catalogs in order, then the account, and combines former names', async () => {
    const { accounts, lines } = await loadAccount(
      'extends: [../c.yaml, ../d.yaml]\nskills: [Z, { name: A, formerly: [A3] }]',
      {
        'c.yaml': 'skills: [B, { name: A, formerly: [A1] }]',
        'd.yaml': 'skills: [{ name: A, formerly: [A2, A1] }, C]\nroles: []',
      },
    );
    expect(lines).toEqual([]);
    expect(accounts[0]?.settings?.desired).toEqual({
      skill: [
        { name: 'B', formerly: [] },
        { name: 'A', formerly: ['A1', 'A2', 'A3'] },
        { name: 'C', formerly: [] },
        { name: 'Z', formerly: [] },
      ],
      role: [],
      allowedDeletes: [],
    });
  });

  test('gives each account the names of its own catalogs', async () => {
    const extending = (catalog: string): string =>
      `region: eu\ntoken: { env: ${catalog} }\nextends: [../${catalog}.yaml]`;
    const { accounts } = await load({
      'accounts/a.yaml': extending('C'),
      'accounts/b.yaml': extending('D'),
      'accounts/c.yaml': `${extending('C')}\nmode: plan\naccountId: "1"`.replace('env: C', 'env: E'),
      'C.yaml': 'skills: [Go]',
      'D.yaml': 'skills: [Rust]',
    });
    const names = accounts.map(({ settings }) => settings?.desired.skill?.map(({ name }) => name));
    expect(names).toEqual([['Go'], ['Rust'], ['Go']]);
  });

  test('reports a former name of one file that another file lists', async () => {
    const { lines } = await loadAccount('extends: [../c.yaml]\nskills: [{ name: B, formerly: [A] }]', {
      'c.yaml': 'skills: [A]',
    });
    expect(lines).toEqual([
      expect.stringContaining('accounts/a.yaml:4:32 error the skill "A" is both desired and'),
    ]);
  });

  test('takes the policy key by key and combines `protect` and `freeze`', async () => {
    const { accounts, lines } = await load({
      'rolecall.yaml': `${SERVICE}defaults: { mode: apply, timezone: Europe/Berlin, policy: { maxDeletes: 3, delete: always, protect: [A, B], freeze: [{ cron: "0 18 * * FRI", for: 60h }] } }`,
      'accounts/a.yaml': `${ACCOUNT}policy: { delete: never, protect: [B, C], unusedFor: 24h, freeze: [{ from: 2026-12-24, to: 2026-12-26T12:00Z }] }`,
    });
    expect(lines).toEqual([]);
    expect(accounts[0]?.settings).toMatchObject({
      mode: 'apply',
      timezone: 'Europe/Berlin',
      policy: {
        maxDeletes: 3,
        delete: 'never',
        protect: ['A', 'B', 'C'],
        unusedForMs: 86_400_000,
        freeze: [
          { cron: '0 18 * * FRI', forMs: 60 * 3_600_000 },
          { from: '2026-12-24', to: '2026-12-26T12:00Z' },
        ],
      },
    });
  });
});

describe('the configuration digest', () => {
  const digest = async (text: string) => (await loadAccount(text)).accounts[0]?.settings?.configDigest;

  test('does not depend on the order of keys and lists, nor on the form of a name', async () => {
    const one = await digest(
      'skills: [B, "e\u0301", { name: C, formerly: [X, Y] }]\npolicy: { maxDeletes: 1, protect: [A, B] }',
    );
    const other = await digest(
      'policy: { protect: [B, A], maxDeletes: 1 }\nskills: [{ formerly: [Y, X], name: C }, "\u00e9", { name: B }]',
    );
    expect(one).toMatch(/^sha256:[0-9a-f]{64}$/u);
    expect(other).toBe(one);
  });

  test('differs for an empty kind and an omitted one, and for an account id and none', async () => {
    const digests = await Promise.all(
      ['', 'skills: []', 'roles: []', 'accountId: "1"', 'skills: [A]'].map(digest),
    );
    expect(new Set(digests).size).toBe(5);
  });
});

describe('the names of an account with its catalogs', () => {
  const lines = (from: number, count: number): string =>
    Array.from({ length: count }, (_, at) => `  - Skill ${from + at}\n`).join('');
  const files = (own: string) => ({
    'rolecall.yaml': SERVICE,
    'accounts/a.yaml': `${ACCOUNT}extends: [../one.yaml, ../two.yaml]\n${own}`,
    'accounts/b.yaml': `region: eu\ntoken: { env: B }\nextends: [../one.yaml]\n`,
    'one.yaml': `skills:\n${lines(0, 12_000)}`,
    'two.yaml': `skills:\n${lines(12_000, 7999)}`,
  });

  costly('are at most 20,000, or its file has an error, and no other account', async () => {
    const valid = await load(files('roles: [Dev]\n'));
    expect(valid.lines).toEqual([]);
    const broken = await load(files('roles: [Dev, Lead]\n'));
    expect(broken.lines).toEqual([
      'accounts/a.yaml:3:24 error with this file the account has more than 20000 names; take some out',
    ]);
    expect(broken.accounts.map(({ settings }) => settings !== undefined)).toEqual([false, true]);
  });
});

describe('the accounts that run a commit first', () => {
  const lines = (name: string, rollout = '') =>
    `region: eu\ntoken: { env: ${name.toUpperCase()}_TOKEN }\n${rollout === '' ? '' : `rollout: ${rollout}\n`}`;
  const files = (rollouts: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(rollouts).map(([name, rollout]) => [`accounts/${name}.yaml`, lines(name, rollout)]),
    );
  const defaults = (after: string) => ({
    'rolecall.yaml': `${SERVICE}defaults: { rollout: { after: ${after} } }\n`,
  });

  test('are those of the account, or of the defaults, which do not bind the accounts that they match', async () => {
    const loaded = await load({
      ...defaults('[a]'),
      ...files({ a: '', b: '', c: '{ after: [b], wait: 5m }', d: '{ after: [] }' }),
    });
    expect(loaded.lines).toEqual([]);
    expect(loaded.accounts.map(({ settings }) => settings?.rollout)).toEqual([
      undefined,
      { after: ['a'], waitMs: 3_600_000 },
      { after: ['b'], waitMs: 300_000 },
      { after: [], waitMs: 3_600_000 },
    ]);
  });

  test('must exist, and must not wait for the account itself', async () => {
    const { lines: found, accounts } = await load(
      files({
        a: '{ after: ["x*"] }',
        b: '{ after: ["*"] }',
        c: '{ after: [a, d] }',
        d: '{ after: [c] }',
        e: '',
      }),
    );
    expect(found).toEqual([
      'accounts/a.yaml:3:20 error no account has a name that "x*" matches; correct the glob',
      'accounts/b.yaml:3:20 error "*" matches this account itself, so it would never end; correct it',
      'accounts/c.yaml:3:23 error "d" matches accounts that wait for this one, so it would never end; correct it',
      'accounts/d.yaml:3:20 error "c" matches accounts that wait for this one, so it would never end; correct it',
    ]);
    expect(accounts.flatMap(({ settings }) => settings?.name ?? [])).toEqual(['e']);
  });

  test('of the defaults must not be all accounts', async () => {
    const { lines: found } = await load({ ...defaults('["*"]'), ...files({ a: '', b: '' }) });
    expect(found).toEqual([
      expect.stringMatching(
        /^rolecall\.yaml:\d+:\d+ error "\*" matches every account, so none would wait; correct it$/,
      ),
    ]);
  });

  test('of the defaults must exist, which is reported once', async () => {
    const { lines: found, accounts } = await load({
      ...defaults('[x]'),
      ...files({ a: '', b: '{ after: [a] }', c: '' }),
    });
    expect(found).toEqual([
      expect.stringMatching(/^rolecall\.yaml:\d+:\d+ error no account has a name that "x" matches/),
    ]);
    expect(accounts.flatMap(({ settings }) => settings?.name ?? [])).toEqual(['b']);
  });
});
