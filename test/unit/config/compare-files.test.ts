// What `validate` finds across files: near names, catalogs that nobody extends, windows that have ended, and globs that match
// nothing.
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareFiles } from '../../../src/config/compare-files.ts';
import { recordConfiguration } from '../../../src/config/load-configuration.ts';
import { expectCpuBelow, times } from '../../support/thorough.ts';
import { ACCOUNT, SERVICE, workspace } from './workspace.ts';

type Files = Readonly<Record<string, string>>;

/** The warnings as `file:line:column message`, with files relative to the folder, and the accounts with unmatched globs. */
async function found(files: Files, service = SERVICE) {
  const folder = workspace({ 'rolecall.yaml': service, ...files });
  const { issues, unmatched } = compareFiles(await recordConfiguration(path.join(folder, 'rolecall.yaml')));
  const text = ({ file, line, column, message, severity }: (typeof issues)[number]): string => {
    expect(severity).toBe('warning');
    return `${path.relative(folder, path.resolve(file))}:${line}:${column} ${message}`.replaceAll(
      `${folder}/`,
      '',
    );
  };
  return { lines: issues.map(text), globs: unmatched.map(({ issue }) => text(issue)) };
}

const account = (name: string, text: string): Files => ({
  [`accounts/${name}.yaml`]: ACCOUNT.replace('A_TOKEN', `${name}_TOKEN`) + text,
});

describe('near names', () => {
  it.each<[string, Files, string[]]>([
    [
      'of two accounts',
      { ...account('a', 'skills: [Kubernetes]'), ...account('b', 'skills:\n  - kubernetes') },
      ['accounts/b.yaml:4:5 the skill "kubernetes" is nearly the same as "Kubernetes" (accounts/a.yaml:3)'],
    ],
    [
      'of an account and a catalog that another one extends',
      {
        ...account('a', 'extends: [../c.yaml]'),
        ...account('b', 'roles: [Back end]'),
        'c.yaml': 'roles: [Backend]',
      },
      ['accounts/b.yaml:3:9 the role "Back end" is nearly the same as "Backend" (c.yaml:1)'],
    ],
    [
      'that several accounts have',
      Object.assign(
        {},
        ...['a', 'b', 'c', 'd'].map((n, i) => account(n, `skills: [${i < 2 ? 'Go' : 'GO'}]`)),
      ) as Files,
      ['accounts/c.yaml:3:10 the skill "GO" is nearly the same as "Go" (accounts/a.yaml:3)'],
    ],
    ['that are the same', { ...account('a', 'skills: [Go]'), ...account('b', 'skills: [Go]') }, []],
    ['of different kinds', { ...account('a', 'skills: [Go]'), ...account('b', 'roles: [go]') }, []],
    [
      'of which one is absent',
      { ...account('a', 'skills: [Go]'), ...account('b', 'skills: [{ name: go, absent: true }]') },
      [],
    ],
  ])('%s', async (_, files, wanted) => {
    expect((await found(files)).lines).toEqual(wanted.map((text) => expect.stringContaining(text)));
  });

  it('of one account are the same warning as without the comparison', async () => {
    const files = { ...account('a', 'extends: [../c.yaml]\nskills: [go]'), 'c.yaml': 'skills: [Go]' };
    const folder = workspace({ 'rolecall.yaml': SERVICE, ...files });
    const recorded = await recordConfiguration(path.join(folder, 'rolecall.yaml'));
    const { issues, read } = compareFiles(recorded);
    expect([issues, read]).toEqual([recorded.loaded.issues, { accounts: 1, catalogs: 1, names: 2 }]);
  });

  it('are found in seconds in thousands of accounts that share catalogs', async () => {
    const count = times(60, 10_000);
    const names = (prefix: string, of: number) => Array.from({ length: of }, (_, i) => `${prefix} ${i}`);
    const files = Object.assign(
      { 'c.yaml': `skills: [${names('Skill', 1000).join(', ')}]` },
      ...names('a', count).map((_, i) =>
        account(`a${i}`, `extends: [../c.yaml]\nskills: [Own ${i}${i === count - 1 ? ', skill 7' : ''}]`),
      ),
    ) as Files;
    const folder = workspace({ 'rolecall.yaml': SERVICE, ...files });
    const recorded = await recordConfiguration(path.join(folder, 'rolecall.yaml'));
    const { issues } = await expectCpuBelow(1.5 * count, () => compareFiles(recorded));
    expect(issues).toHaveLength(1);
  });
});

it('a catalog is reported that no account extends, below the folders of the others, and no other file', async () => {
  const files = {
    ...account('a', 'extends: [../catalogs/used.yaml]'),
    'catalogs/used.yaml': 'skills: [Go]',
    'catalogs/deep/unused.yml': '# left over\nroles: [Dev]\n',
    'catalogs/other.yaml': 'skills: [A]\nmore: 1',
    'catalogs/broken.yaml': 'skills: [',
    'elsewhere/unused.yaml': 'skills: [B]',
  };
  expect((await found(files)).lines).toEqual([
    'catalogs/deep/unused.yml:1:1 no account extends this catalog; extend it, or remove the file',
  ]);
  // Nobody knows what an account with errors extends.
  expect((await found({ ...files, ...account('b', 'skills: [') })).lines).toEqual([]);
});

it('a freeze window is reported that has ended, of an account and of the defaults', async () => {
  const windows =
    '[{ from: 2020-01-01, to: 2020-01-02 }, { from: 2020-01-01, to: 2999-01-01 }, { cron: "0 0 * * *", for: 1h }]';
  const { lines } = await found(
    account('a', `policy: { freeze: ${windows} }`),
    `${SERVICE}defaults: { policy: { freeze: ${windows} } }`,
  );
  expect(lines).toEqual([
    'rolecall.yaml:2:56 this window ended on 2020-01-02; remove it',
    'accounts/a.yaml:3:44 this window ended on 2020-01-02; remove it',
  ]);
});

it('a glob of protect is reported that matches no wanted, former or absent name of its account', async () => {
  const entries =
    'skills: [Go, { name: New, formerly: [Old] }, { name: Gone, absent: true }]\nroles: [Admin]';
  const globs = '[G?, Old, Gone, "Adm*", "x*", go]';
  const { globs: unmatched } = await found(
    {
      ...account('a', `policy: { protect: ${globs} }\n${entries}`),
      ...account('b', 'skills: [Rust]'),
    },
    `${SERVICE}defaults: { policy: { protect: [Go, Rust, nothing] } }`,
  );
  expect(unmatched).toEqual([
    expect.stringContaining('rolecall.yaml:2:43 "nothing" matches no name of the files'),
    expect.stringContaining('accounts/a.yaml:3:44 "x*" matches no name of the files'),
    expect.stringContaining('accounts/a.yaml:3:50 "go" matches no name of the files'),
  ]);
  const broken = account('broken', 'policy: { protect: [x] }\nskills: 1');
  const ofBroken = await found(broken, `${SERVICE}defaults: { policy: { protect: [nothing] } }`);
  expect(ofBroken.globs).toEqual([]);
});
