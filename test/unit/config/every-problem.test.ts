// Problems that could hide other problems, and account files that no glob matches.
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { formatConfigIssue } from '../../../src/core/errors.ts';
import { visible } from '../../../src/report/escape-invisible.ts';
import { costly } from '../../support/thorough.ts';
import { ACCOUNT, SERVICE, load, loadAccount, workspace } from './workspace.ts';

test('a duplicate key is reported beside the other problems of its file, and no value of it is used', async () => {
  const { lines, service, accounts } = await load({
    'rolecall.yaml': `api: { timeout: 35s }\n${SERVICE}api: { concurrency: 0 }\nnotfy: []`,
    'accounts/a.yaml': `${ACCOUNT}mode: apply\nmode: plan\nskills: [1.0]\nextends: [../c.yaml]`,
    'accounts/b.yaml': `${ACCOUNT.replace('A_', 'B_')}mode: apply\nmode: plan`,
    'c.yaml': 'roles: [B]\nroles: [true]\n',
  });
  expect(service).toBeUndefined();
  expect(accounts.map(({ settings }) => settings)).toEqual([undefined, undefined]);
  expect(lines.map((line) => line.split(' ', 1)[0])).toEqual([
    'accounts/a.yaml:4:1',
    'accounts/a.yaml:5:10',
    'accounts/b.yaml:4:1',
    'c.yaml:2:1',
    'c.yaml:2:9',
    'rolecall.yaml:3:1',
    'rolecall.yaml:3:21',
    'rolecall.yaml:4:1',
  ]);
});

test('an invisible character is shown as one escape, and a line break in a name does not break the line', async () => {
  const { issues } = await loadAccount('skills: ["a\\u200bb", "c\\nd", "c\\nd"]\n"x\\u0007\\ny": 1\n');
  const shown = issues.map((issue) => visible(formatConfigIssue(issue)));
  expect(shown.join('\n')).toContain(String.raw`the name "a\u200bb" has invisible`);
  expect(shown.join('\n')).toContain(String.raw`unknown key "x\u0007\ny"`);
  expect(shown.join('\n')).not.toMatch(/\\\\u|u\{/u);
  expect(issues.every(({ message }) => !message.includes('\n'))).toBe(true);
});

describe('a YAML file that the glob of accounts does not match', () => {
  test('causes a warning in the folder of the accounts and below it, unless it is a catalog of an account', async () => {
    const { lines, accounts } = await load({
      'accounts/a.yaml': `${ACCOUNT}extends: [shared/c.yaml, ../catalogs/d.yaml]`,
      'accounts/b.yml': ACCOUNT,
      'accounts/.c.yaml': ACCOUNT,
      'accounts/eu/d.yaml': ACCOUNT,
      'accounts/.eu/deep/e.YAML': ACCOUNT,
      'accounts/shared/c.yaml': 'skills: []',
      'accounts/.git/f.yaml': ACCOUNT,
      'accounts/..2026_06_15/a.yaml': ACCOUNT,
      'accounts/._a.yaml': ACCOUNT,
      'accounts/.eu/.#a.yaml': ACCOUNT,
      'accounts/notes.txt': '',
      'catalogs/d.yaml': 'roles: []',
      'catalogs/unused.yaml': 'roles: []',
    });
    expect(accounts.map(({ name }) => name)).toEqual(['a']);
    expect(lines.map((line) => line.split(' ').slice(0, 2))).toEqual([
      ['accounts/.c.yaml:1:1', 'warning'],
      ['accounts/.eu/deep/e.YAML:1:1', 'warning'],
      ['accounts/b.yml:1:1', 'warning'],
      ['accounts/eu/d.yaml:1:1', 'warning'],
    ]);
  });

  test('causes a warning when no file matches at all', async () => {
    const { lines } = await load({ 'accounts/a.yml': ACCOUNT });
    expect(lines).toEqual([
      expect.stringMatching(
        /^accounts\/a\.yml:1:1 warning this file is not used: the glob `accounts` does not match/u,
      ),
      expect.stringMatching(/^rolecall\.yaml:1:1 error no file matches `accounts`/u),
    ]);
  });
});

describe('the glob of accounts', () => {
  const files = {
    'accounts/a.yaml': ACCOUNT,
    'accounts/eu/b.yaml': ACCOUNT.replace('A_', 'B_'),
    'accounts/eu/de/c.yaml': ACCOUNT.replace('A_', 'C_'),
    'accounts/eu/de/.hidden/d.yaml': ACCOUNT,
    'other/e.yaml': ACCOUNT.replace('A_', 'E_'),
  };

  test.each([
    ['accounts/**/*.yaml', ['a', 'b', 'c']],
    ['accounts/**', ['a', 'b', 'c']],
    ['**/accounts/**/*.yaml', ['a', 'b', 'c']],
    ['**/*.yaml', ['a', 'b', 'c', 'e']],
    ['accounts/**/de/*.yaml', ['c']],
    ['accounts/**/eu/**/*.yaml', ['b', 'c']],
    ['accounts/*/*.yaml', ['b']],
  ])('with two stars matches any number of folders, including none: %s', async (glob, names) => {
    const folder = workspace({ ...files, 'rolecall.yaml': `${SERVICE}accounts: "${glob}"` });
    const { accounts, issues } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
    expect(accounts.map(({ name }) => name)).toEqual(names);
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

test('a folder of accounts that cannot be listed is an error', async () => {
  const folder = workspace({ 'rolecall.yaml': `${SERVICE}accounts: loop/*.yaml` });
  symlinkSync('loop', path.join(folder, 'loop'));
  const { issues } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
  expect(issues.map(({ message }) => message)).toEqual([expect.stringContaining('loop is not searched')]);
});

costly('a glob of accounts that matches too many folders is an error, and is reported quickly', async () => {
  const folder = workspace({ 'rolecall.yaml': `${SERVICE}accounts: "**/*.yaml"`, 'a/a.yaml': ACCOUNT });
  for (let index = 0; index < 5200; index += 1)
    mkdirSync(path.join(folder, `b/${index % 70}/${index}`), { recursive: true });
  const { issues, accounts } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
  expect(accounts.map(({ name }) => name)).toEqual(['a']);
  expect(issues.map(({ message, severity }) => `${severity} ${message}`)).toEqual([
    expect.stringMatching(/^error the glob `accounts` matches more than 5000 folders/u),
  ]);
});

describe('a name that refers to an existing entry', () => {
  const NAMES = [
    'trailing ',
    ' leading',
    'tab\tinside',
    'bell\u0007',
    'line\nbreak',
    '',
    'e\u0301',
    `a${'\u0301'.repeat(40)}`,
  ];
  const list = NAMES.map((name) => JSON.stringify(name)).join(', ');
  const normal = NAMES.map((name) => name.normalize('NFC'));

  test('can have characters that a desired name must not have, in `formerly`, `allowedDeletes` and `protect`', async () => {
    const approvals = NAMES.map(
      (name) => `{ kind: role, name: ${JSON.stringify(name)}, expires: 2999-12-31 }`,
    ).join(', ');
    const { lines, accounts } = await loadAccount(
      `skills: [{ name: New, formerly: [${list}] }]\nroles: []\nallowedDeletes: [${approvals}]\npolicy: { protect: [${list}] }\n`,
    );
    expect(lines).toEqual([]);
    const settings = accounts[0]?.settings;
    expect(settings?.desired.skill).toEqual([{ name: 'New', formerly: normal }]);
    expect(settings?.desired.allowedDeletes.map((line) => ('name' in line ? line.name : ''))).toEqual(normal);
    expect(settings?.policy.protect).toEqual(normal);
  });

  test('is quoted in problems, as an unknown key is, without half of a character', async () => {
    const long = `${'x'.repeat(79)}😀`;
    const { lines } = await loadAccount(`skills: [A]\n"half\\ud800": 1\n${long}: 1`);
    expect(lines.join('\n')).toMatch(/"half\ufffdd800".*"x{79}…"/s);
  });

  test('can have an unpaired surrogate, which YAML escapes', async () => {
    const { lines, accounts } = await loadAccount(
      'skills: [{ name: A, formerly: ["0123456789abc\\ud800"] }]',
    );
    expect(lines).toEqual([]);
    expect(accounts[0]?.settings?.desired.skill?.[0]?.formerly).toEqual(['0123456789abc\ufffdd800']);
  });

  test('must be text of at most 1,000 characters, and must not be desired', async () => {
    const { lines } = await loadAccount(
      `skills: [{ name: A, formerly: [1.0, "${'x'.repeat(1001)}", B] }, B]\nallowedDeletes: [{ kind: skill, name: 12, expires: 2999-12-31 }]\n`,
    );
    expect(lines.map((line) => line.split(' ', 1)[0])).toEqual([
      'accounts/a.yaml:3:32',
      'accounts/a.yaml:3:37',
      'accounts/a.yaml:3:1042',
      'accounts/a.yaml:4:39',
    ]);
  });
});
