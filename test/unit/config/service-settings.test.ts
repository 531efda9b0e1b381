import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { ACCOUNT, SERVICE, loadService, workspace } from './workspace.ts';

describe('the service file', () => {
  test.each([
    ['', ['warning the HTTP interface sends tokens, sessions and reports unencrypted']],
    [', publicUrl: "https://rolecall.example.com"', []],
  ])('causes a warning when it listens on more than loopback without TLS (%s)', async (url, warnings) => {
    const tokens = 'tokens: [{ name: ci, token: { env: CI }, role: read }]';
    const { lines, service } = await loadService(`http: { listen: "0.0.0.0:80", ${tokens}${url} }`);
    expect(lines).toEqual(warnings.map((each) => expect.stringContaining(`rolecall.yaml:1:17 ${each}`)));
    expect(service?.http.host).toBe('0.0.0.0');
  });

  test('can name a database, whose reference is a secret of the daemon', async () => {
    const { service, lines, secrets } = await loadService(
      'store: { postgres: { url: { file: db-url }, schema: staging } }',
    );
    expect(lines).toEqual([]);
    const url = { file: expect.stringMatching(/^\/.*\/db-url$/u) };
    expect(service?.store).toEqual({ postgres: { url, schema: 'staging' } });
    expect(secrets.filter(({ account }) => account === undefined)).toEqual([
      expect.objectContaining({ ref: url, what: 'store.postgres.url', line: 1, column: 27 }),
    ]);
    const plain = await loadService('store: { postgres: { url: "postgres://me@db/a" } }');
    expect(plain.service?.store).toEqual({
      postgres: { url: 'postgres://me@db/a', schema: 'rolecall' },
    });
  });

  test('can contain every documented setting', async () => {
    const { service, lines, folder, secrets } = await loadService(
      `
accounts: accounts/*.yaml
store: /var/lib/rolecall.db
regions: { us: https://us.example.com/, eu: "https://EU.example.com:443/base/" }
api: { timeout: 10s, settle: 500ms, caFile: ca.pem }
http:
  listen: "[::]:0"
  title: production
  token: { file: secrets/http }
  tokens: [{ name: ci, token: { env: CI_TOKEN }, role: read }]
  trustedProxies: [10.0.0.0/8, "fd00::1"]
  identityHeader: X-Forwarded-User
  operators: ["*@ops.example"]
  publicUrl: https://rolecall.example.com/team/
notify:
  - { url: { env: HOOK }, format: slack, events: [held, held], secret: { env: KEY } }
  - { url: "https://hooks.example.com/a?b=c" }
  - { format: github, repository: a/b, token: { env: STATUS } }
source: { git: { url: "https://git.example.com/b.git", credentials: { env: GIT } } }
trust: { origins: ["HTTPS://*.Example.com:443/", "https://10.0.0.?:8443"], env: [A, ACME_*], files: [/run/secrets/**, secrets/*] }
`.replace('settle: 500ms', 'settle: 11s'),
    );
    expect(lines).toEqual([]);
    expect(service).toMatchObject({
      store: { file: '/var/lib/rolecall.db' },
      api: { caFile: path.join(folder, 'ca.pem') },
      http: {
        host: '::',
        title: 'production',
        port: 0,
        token: { file: path.join(folder, 'secrets/http') },
        tokens: [{ name: 'ci', token: { env: 'CI_TOKEN' }, role: 'read' }],
        trustedProxies: ['10.0.0.0/8', 'fd00::1'],
        identity: { header: 'X-Forwarded-User', operators: ['*@ops.example'] },
      },
      notify: [
        {
          url: { env: 'HOOK' },
          format: 'slack',
          events: ['held'],
          collectMs: 60_000,
          publicUrl: 'https://rolecall.example.com/team',
          secret: { env: 'KEY' },
        },
        {
          url: 'https://hooks.example.com/a?b=c',
          format: 'json',
          events: ['drift', 'applied', 'held', 'failed', 'recovered'],
          collectMs: 0,
        },
        {
          url: 'https://api.github.com',
          format: 'github',
          repository: 'a/b',
          secret: { env: 'STATUS' },
        },
      ],
      trust: {
        origins: ['https://*.example.com', 'https://10.0.0.?:8443'],
        env: ['A', 'ACME_*'],
        files: ['/run/secrets/**', path.join(folder, 'secrets/*')],
      },
      source: {
        git: {
          url: 'https://git.example.com/b.git',
          branch: 'main',
          path: 'config',
          intervalMs: 60_000,
          credentials: { env: 'GIT' },
        },
      },
    });
    expect(secrets.map(({ what, line }) => `${what} ${line}`)).toEqual([
      'http.token 9',
      'token ci of http.tokens 10',
      'notify url 16',
      'notify secret 16',
      'notify token 18',
      'git credentials 19',
      'token of a 2',
    ]);
  });

  test.each([
    ['https://host/a.git', 'https://host/a.git'],
    ['http://127.0.0.1:3000/a.git', 'http://127.0.0.1:3000/a.git'],
    ['ssh://git@host/a.git', 'ssh://git@host/a.git'],
    ['git@host:a/b.git', 'git@host:a/b.git'],
    ['file:///srv/a.git', 'file:///srv/a.git'],
    ['/srv/a.git', '/srv/a.git'],
    ['../a.git', '/a.git'],
  ])('can name the repository %s', async (written, url) => {
    const { service, lines, folder } = await loadService(
      `source: { git: { url: "${written}" } }\ntrust: { origins: ["*"] }`,
    );
    expect(lines).toEqual([]);
    const expected = written.startsWith('..') ? path.join(path.dirname(folder), url) : url;
    expect(service?.source?.git.url).toBe(expected);
  });

  test('causes a warning when an SSH key is not in a file', async () => {
    const { service, lines } = await loadService(
      'source: { git: { url: "git@host:a.git", credentials: { env: KEY } } }\ntrust: { origins: ["*"] }',
    );
    expect(lines).toEqual([expect.stringMatching(/^rolecall\.yaml:1:54 warning this is ignored: with ssh/u)]);
    expect(service?.source).toBeDefined();
  });

  test('is reported with instructions to create it when it is missing', async () => {
    const loaded = await loadConfiguration(path.join(workspace({}), 'rolecall.yaml'));
    expect(loaded).toMatchObject({ accounts: [], issues: [{ line: 1, column: 1, severity: 'error' }] });
    expect(loaded.issues[0]?.message).toMatch(
      /the file does not exist; run `rolecall init` to write one.*--config/u,
    );
    expect(loaded.service).toBeUndefined();
  });

  test('finds accounts by a glob of paths that skips folders and hidden files', async () => {
    const folder = workspace({
      'rolecall.yaml': `${SERVICE}accounts: ./*/ac?ounts/*.y*ml`,
      'x/accounts/b.yml': ACCOUNT.replace('A_TOKEN', 'B'),
      'y/accounts/a.yaml': ACCOUNT,
      'y/accounts/.hidden.yaml': ACCOUNT,
      'y/accounts/note.txt': '',
      '.z/accounts/c.yaml': ACCOUNT,
    });
    mkdirSync(path.join(folder, 'y/accounts/folder.yaml'));
    const { accounts, issues } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
    // A folder that is named like an account file is an error of that account, and stops no other.
    expect(issues).toMatchObject([
      { file: expect.stringContaining('.hidden.yaml'), severity: 'warning' },
      { file: expect.stringContaining('folder.yaml'), severity: 'error' },
    ]);
    expect(accounts.map(({ name }) => name)).toEqual(['a', 'b', 'folder']);
  });
});
