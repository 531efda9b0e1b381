// What the local service file allows the accounts of a repository to use.
import type { Configuration } from '../../../src/core/settings.ts';
import { mkdirSync, symlinkSync, writeFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createConfigurationSource } from '../../../src/config/configuration-source.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { checkSecrets, resolveToken } from '../../../src/config/secrets.ts';
import { ConfigError, formatConfigIssue } from '../../../src/core/errors.ts';
import { makeOrigin } from '../git/origin.ts';
import { ACCOUNT, SERVICE, load, workspace } from './workspace.ts';
import { createCommitReader } from '../../../src/git/commit.ts';

afterEach(() => vi.unstubAllEnvs());

type Files = Readonly<Record<string, string>>;

/** The configuration of a daemon with the local file `machine` and a repository of `files`; `-> target` is a link. */
async function fromRepository(machine: string, files: Files): Promise<Configuration & { lines: string[] }> {
  const origin = makeOrigin({});
  const links = Object.entries(files).filter(([, text]) => text.startsWith('-> '));
  for (const [name, text] of links) {
    mkdirSync(path.dirname(path.join(origin.folder, name)), { recursive: true });
    symlinkSync(text.slice(3), path.join(origin.folder, name));
  }
  origin.commit(Object.fromEntries(Object.entries(files).filter(([, text]) => !text.startsWith('-> '))));
  const text = `${machine}\nsource: { git: { url: "${origin.settings.url}" } }\n`;
  const file = path.join(workspace({ 'rolecall.yaml': text }), 'rolecall.yaml');
  const checkout = await origin.open();
  const refreshed = await checkout.refresh();
  expect(refreshed).toMatchObject({ type: 'updated' });
  const loaded = await createConfigurationSource(file, createCommitReader(), { checkout }).read();
  const lines = loaded.issues.map((issue) => formatConfigIssue(issue));
  return { ...loaded, lines };
}

function validNames({ accounts }: Configuration): string[] {
  return accounts.filter(({ settings }) => settings !== undefined).map(({ name }) => name);
}

const INNER = `regions: { eu: "https://eu.example.com", evil: "https://evil.example.net" }\n`;

describe('by default, the accounts of a repository', () => {
  test('can use only the origins of the local regions, whatever the repository sets', async () => {
    const loaded = await fromRepository(SERVICE, {
      'config/rolecall.yaml': `${INNER}trust: { origins: ["*"] }\n`,
      'config/accounts/good.yaml': ACCOUNT,
      'config/accounts/path.yaml': 'baseUrl: https://EU.example.com:443/tenant\ntoken: { env: B_TOKEN }',
      'config/accounts/region.yaml': 'token: { env: C_TOKEN }\nregion: evil',
      'config/accounts/url.yaml': 'baseUrl: https://eu.example.com.evil.example.net\ntoken: { env: D_TOKEN }',
      'config/accounts/port.yaml': 'baseUrl: https://eu.example.com:8443\ntoken: { env: E_TOKEN }',
    });
    expect(validNames(loaded)).toEqual(['good', 'path']);
    expect(loaded.lines).toEqual([
      expect.stringMatching(
        /^config\/accounts\/port\.yaml:1:10: tokens must not be sent to https:\/\/eu\.example\.com:8443; .*`trust\.origins` in /u,
      ),
      expect.stringMatching(
        /^config\/accounts\/region\.yaml:2:9: tokens must not be sent to https:\/\/evil\.example\.net/u,
      ),
      expect.stringMatching(/^config\/accounts\/url\.yaml:1:10: tokens must not be sent/u),
      expect.stringMatching(/^config\/rolecall\.yaml:2:1: `trust` is not used here/u),
    ]);
  });

  test('can use secrets in the usual folders and any variable, but no other file', async () => {
    const loaded = await fromRepository(SERVICE, {
      'config/accounts/run.yaml': 'region: eu\ntoken: { file: /run/secrets/x/y }',
      'config/accounts/cred.yaml': 'region: eu\ntoken: { file: /run/credentials/rolecall.service/token_x }',
      'config/accounts/var.yaml': 'region: eu\ntoken: { file: /var/run/secrets/z }',
      'config/accounts/env.yaml': 'region: eu\ntoken: { env: ANY_NAME }',
      'config/accounts/etc.yaml': 'region: eu\ntoken: { file: /etc/hostname }',
      'config/accounts/up.yaml': 'region: eu\ntoken: { file: /run/secrets/../../etc/hosts }',
      'config/accounts/own.yaml': 'region: eu\ntoken: { file: ../token }',
      'config/token': 'committed',
      'config/accounts/link.yaml': 'region: eu\ntoken: { file: ../linked }',
      'config/linked': '-> /etc/passwd',
    });
    expect(validNames(loaded)).toEqual(['cred', 'env', 'run', 'var']);
    expect(loaded.lines).toHaveLength(4);
    expect(loaded.lines[0]).toMatch(
      /^config\/accounts\/etc\.yaml:2:8: account files must not use this file as a token; use one that `trust\.files` in .*rolecall\.yaml allows/u,
    );
  });
});

describe('the trust section of the local file', () => {
  test('allows the origins, variables and files that its globs match', async () => {
    const folder = workspace({ 'real/eu/token': 'x', 'real/other': 'x' });
    symlinkSync(path.join(folder, 'real'), path.join(folder, 'secrets'));
    symlinkSync('/etc/hostname', path.join(folder, 'real/eu/leaves'));
    const trust = `trust: { origins: ["https://*.example.com"], env: [ACME_*], files: ["${folder}/secrets/eu/*"] }`;
    const account = (token: string): string => `baseUrl: https://a.b.example.com\ntoken: ${token}`;
    const loaded = await fromRepository(trust, {
      'config/accounts/env.yaml': account('{ env: ACME_EU }'),
      'config/accounts/other.yaml': account('{ env: HOME }'),
      'config/accounts/file.yaml': account(`{ file: ${folder}/secrets/eu/token }`),
      'config/accounts/real.yaml': account(`{ file: ${folder}/real/eu/token2 }`),
      'config/accounts/above.yaml': account(`{ file: ${folder}/secrets/other }`),
      'config/accounts/leaves.yaml': account(`{ file: ${folder}/secrets/eu/leaves }`),
      'config/accounts/http.yaml':
        'baseUrl: http://a.example.com\nallowInsecure: true\ntoken: { env: ACME_US }',
      'config/accounts/suffix.yaml': 'baseUrl: https://a.example.com.evil.net\ntoken: { env: ACME_AU }',
    });
    expect(validNames(loaded)).toEqual(['env', 'file', 'real']);
  });

  test('applies to a local folder too, where nothing is restricted without it', async () => {
    const files = {
      'accounts/a.yaml': 'baseUrl: https://x.example.net\ntoken: { env: A_TOKEN }',
      'accounts/b.yaml': 'region: eu\ntoken: { file: ../token }',
      'accounts/c.yaml': 'region: eu\ntoken: { env: C_TOKEN }',
    };
    const free = await load(files);
    expect(validNames(free)).toEqual(['a', 'b', 'c']);
    const trust = 'trust: { origins: ["https://eu.example.com"], env: [A_*], files: [] }';
    const bound = await load({ ...files, 'rolecall.yaml': `${SERVICE}${trust}` });
    expect(validNames(bound)).toEqual([]);
    expect(bound.lines).toEqual([
      expect.stringMatching(/^accounts\/a\.yaml:1:10 error tokens must not be sent/u),
      expect.stringMatching(/^accounts\/b\.yaml:2:8 error account files must not use this file/u),
      expect.stringMatching(/^accounts\/c\.yaml:2:8 error account files must not use this variable/u),
    ]);
  });
});

describe('the daemon’s own secrets', () => {
  const OWN = [
    'http: { token: { file: secrets/http } }',
    'notify: [{ url: { env: HOOK_URL }, secret: { env: HOOK_KEY } }]',
  ].join('\n');

  test('are never accepted as the token of an account, by name, by path or by a link', async () => {
    const folder = workspace({
      'rolecall.yaml': `${SERVICE}${OWN}`,
      'secrets/http': 'secret of http',
      'accounts/path.yaml': 'region: eu\ntoken: { file: ../secrets/../secrets/http }',
      'accounts/link.yaml': 'region: eu\ntoken: { file: ../innocent }',
      'accounts/url.yaml': 'region: eu\ntoken: { env: HOOK_URL }',
      'accounts/key.yaml': 'region: eu\ntoken: { env: HOOK_KEY }',
      'accounts/client.yaml': 'region: eu\ntoken: { env: ROLECALL_HTTP_TOKEN }',
      'accounts/good.yaml': ACCOUNT,
    });
    symlinkSync('secrets/http', path.join(folder, 'innocent'));
    const loaded = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
    expect(validNames(loaded)).toEqual(['good']);
    const messages = loaded.issues.map(({ line, column, message }) => `${line}:${column} ${message}`);
    expect(new Set(messages)).toEqual(
      new Set([expect.stringMatching(/^2:8 this is one of the daemon’s own secrets/u)]),
    );
    expect(messages).toHaveLength(5);
  });

  test('are refused by value, and behind a link that changed, when a token is read', async () => {
    const folder = workspace({
      'rolecall.yaml': `${SERVICE}${OWN}`,
      'secrets/http': 'secret of http\n',
      'secrets/a': 'token of a',
      'accounts/copy.yaml': 'region: eu\ntoken: { env: COPY }',
      'accounts/link.yaml': 'region: eu\ntoken: { file: ../innocent }',
    });
    symlinkSync('secrets/a', path.join(folder, 'innocent'));
    const loaded = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
    const settings = loaded.accounts.map((account) => account.settings);
    const [copy, link] = settings;
    if (copy === undefined || link === undefined) throw new Error('both are sound');
    vi.stubEnv('COPY', 'token of copy');
    expect((await resolveToken(copy)).reveal()).toBe('token of copy');
    expect((await resolveToken(link)).reveal()).toBe('token of a');
    vi.stubEnv('COPY', 'secret of http');
    symlinkSync('secrets/http', path.join(folder, 'next'));
    renameSync(path.join(folder, 'next'), path.join(folder, 'innocent'));
    for (const account of [copy, link]) {
      const error: unknown = await resolveToken(account).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConfigError);
      expect(String(error)).toMatch(/(?:copy|link)\.yaml:2:8: this is one of the daemon’s own secrets/u);
    }
    expect(
      await checkSecrets(loaded, { COPY: 'secret of http', HOOK_URL: 'x', HOOK_KEY: 'y' }),
    ).toContainEqual(
      expect.objectContaining({
        account: 'copy',
        severity: 'error',
        message: expect.stringContaining('own secrets'),
      }),
    );
  });

  test('include the password of the git credentials', async () => {
    const loaded = await load({
      'rolecall.yaml': `${SERVICE}source: { git: { url: "https://git.example.com/a.git", credentials: { env: GIT } } }`,
      'accounts/a.yaml': ACCOUNT,
    });
    vi.stubEnv('GIT', 'user:password-of-git');
    vi.stubEnv('A_TOKEN', 'password-of-git');
    const [account] = loaded.accounts;
    if (account?.settings === undefined) throw new Error('it is sound');
    await expect(resolveToken(account.settings)).rejects.toThrow(/own secrets/u);
  });
});

describe('a path or link in a repository', () => {
  test('that leads outside is not used as an account, a catalog or a folder of catalogs', async () => {
    const outside = workspace({
      'x.yaml': ACCOUNT,
      'c.yaml': 'skills: [Out]',
      'ca.pem': 'ca',
      'deep/y.yaml': ACCOUNT,
    });
    const loaded = await fromRepository(`${SERVICE}`, {
      'config/accounts/good.yaml': `${ACCOUNT}extends: [../catalogs/in.yaml]`,
      'config/catalogs/in.yaml': '-> ../shared/c.yaml',
      'config/shared/c.yaml': 'skills: [In]',
      'config/accounts/above.yaml': 'region: eu\ntoken: { env: F_TOKEN }\nextends: [../../c.yaml]',
      'c.yaml': 'skills: [Out]',
      'config/accounts/link.yaml': `-> ${outside}/x.yaml`,
      'config/accounts/relative.yaml': `-> ../../../../../../../../../../../../..${outside}/x.yaml`,
      'config/accounts/nowhere.yaml': `-> ${outside}/nowhere.yaml`,
      'config/accounts/absolute.yaml': `region: eu\ntoken: { env: B_TOKEN }\nextends: ["${outside}/c.yaml"]`,
      'config/accounts/linked.yaml': 'region: eu\ntoken: { env: C_TOKEN }\nextends: [../catalogs/out.yaml]',
      'config/catalogs/out.yaml': `-> ${outside}/c.yaml`,
      'config/accounts/folder.yaml': 'region: eu\ntoken: { env: D_TOKEN }\nextends: [../out/c.yaml]',
      'config/out': `-> ${outside}`,
      'config/accounts/git.yaml': 'region: eu\ntoken: { env: E_TOKEN }\nextends: [../../.git]',
    });
    expect(validNames(loaded)).toEqual(['good']);
    expect(loaded.accounts.find(({ name }) => name === 'good')?.settings?.desired.skill).toEqual([
      { name: 'In', formerly: [] },
    ]);
    const out = loaded.lines.filter((line) =>
      line.includes('leads out of the folder `path` in the repository'),
    );
    expect(out.map((line) => line.split(': ')[0])).toEqual([
      'config/accounts/above.yaml:3:11',
      'config/accounts/absolute.yaml:3:11',
      'config/accounts/folder.yaml:3:11',
      'config/accounts/git.yaml:3:11',
      'config/accounts/link.yaml:1:1',
      'config/accounts/linked.yaml:3:11',
      'config/accounts/nowhere.yaml:1:1',
      'config/accounts/relative.yaml:1:1',
    ]);
    expect(loaded.lines.join('\n')).not.toContain('Out');
  });

  test.each([
    ['a parent folder', (outside: string) => `../../../../../../../../../../..${outside}/*.yaml`],
    ['an absolute path', (outside: string) => `${outside}/*.yaml`],
    ['a linked folder', () => 'linked/*.yaml'],
    ['a linked folder in the middle', () => '*/*.yaml'],
    ['a linked folder below', () => 'linked/**/*.yaml'],
  ])('that leads outside is not followed by the glob of accounts: %s', async (_title, glob) => {
    const outside = workspace({ 'x.yaml': ACCOUNT, 'deep/y.yaml': ACCOUNT });
    const loaded = await fromRepository(SERVICE, {
      'config/rolecall.yaml': `${SERVICE}accounts: "${glob(outside)}"`,
      'config/linked': `-> ${outside}`,
      'config/inside/z.yaml': ACCOUNT,
    });
    expect(loaded.accounts.map(({ name }) => name).filter((name) => name !== 'z')).toEqual([]);
    expect(loaded.lines).toContainEqual(
      expect.stringMatching(
        /^config\/rolecall\.yaml:2:11: .* is not searched for accounts: this leads out of the folder `path` in the repository/u,
      ),
    );
  });

  test('that stays inside is used, such as the links of Kubernetes', async () => {
    const loaded = await fromRepository(SERVICE, {
      'config/..2026/a.yaml': ACCOUNT,
      'config/..data': '-> ..2026',
      'config/accounts/a.yaml': '-> ../..data/a.yaml',
    });
    expect(loaded.lines).toEqual([]);
    expect(validNames(loaded)).toEqual(['a']);
  });
});

test('a token file is read again after Kubernetes replaced its folder', async () => {
  const folder = workspace({ 'mount/..1/token': 'first', 'mount/..2/token': 'second' });
  const mount = path.join(folder, 'mount');
  symlinkSync('..1', path.join(mount, '..data'));
  symlinkSync('..data/token', path.join(mount, 'token'));
  writeFileSync(path.join(folder, 'rolecall.yaml'), `${SERVICE}trust: { files: [mount/**] }\n`);
  mkdirSync(path.join(folder, 'accounts'));
  writeFileSync(path.join(folder, 'accounts/a.yaml'), 'region: eu\ntoken: { file: ../mount/token }');
  const { accounts, issues } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
  expect(issues).toEqual([]);
  const settings = accounts[0]?.settings;
  if (settings === undefined) throw new Error('it is sound');
  expect((await resolveToken(settings)).reveal()).toBe('first');
  symlinkSync('..2', path.join(mount, '..tmp'));
  renameSync(path.join(mount, '..tmp'), path.join(mount, '..data'));
  rmSync(path.join(mount, '..1'), { recursive: true });
  expect((await resolveToken(settings)).reveal()).toBe('second');
});
