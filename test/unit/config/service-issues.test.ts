import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { ACCOUNT, SERVICE, load, loadService, workspace } from './workspace.ts';

const CASES: readonly (readonly [title: string, text: string, issue: string])[] = [
  ['a mistyped key', 'notfy: []', '1:1 error unknown key "notfy"; did you mean "notify"?'],
  [
    'a mistyped key in a section',
    'api: { timout: 1s }',
    '1:8 error unknown key "timout"; did you mean "timeout"?',
  ],
  [
    'a region without https',
    'regions: { eu: eu.example.com }',
    '1:16 error regions.eu: an address starts with https://',
  ],
  [
    'a region with an invalid name',
    'regions: { "e u": https://x.example.com }',
    '1:12 error regions.e u: a key here may have only',
  ],
  [
    'a settle that is not more than timeout',
    'api: { timeout: 30s, settle: 30s }',
    '1:30 error api.settle must be more than api.timeout',
  ],
  [
    'a timeout beyond the default settle',
    'api: { timeout: 40s }',
    '1:17 error api.settle must be more than api.timeout',
  ],
  [
    'a timeout of zero',
    'api: { timeout: 0s }',
    '1:17 error api.timeout: this is too short; the minimum is 1ms',
  ],
  [
    'a size without a unit',
    'api: { maxResponseBytes: 64 }',
    '1:26 error api.maxResponseBytes: must be a size',
  ],
  [
    'a size with an unknown unit',
    'api: { maxResponseBytes: 64Mb }',
    '1:26 error api.maxResponseBytes: this is not a size',
  ],
  ['a concurrency of zero', 'api: { concurrency: 0 }', '1:21 error api.concurrency: must be at least 1'],
  [
    'a database with a password in its address',
    'store: { postgres: { url: "postgres://me:s3cr3t@db.example.com/a" } }',
    '1:27 error url must be an address such as postgres://rolecall@db.example.com/rolecall?sslmode=verify-full without a password',
  ],
  [
    'a database with a password in a parameter',
    'store: { postgres: { url: "postgres://db.example.com/a?pass%77ord=s3cr3t" } }',
    '1:27 error url must be an address such as',
  ],
  [
    'a database with a mistyped parameter',
    'store: { postgres: { url: "postgres://me@db.example.com/a?ssl_mode=s3cr3t" } }',
    '1:27 error url must be an address such as',
  ],
  [
    'a schema that is not a plain name',
    'store: { postgres: { url: { env: A }, schema: Role-Call } }',
    '1:47 error store.postgres.schema: must be the name of a schema',
  ],
  [
    'a schema of the database itself',
    'store: { postgres: { url: { env: A }, schema: pg_catalog } }',
    '1:47 error store.postgres.schema: must be the name of a schema',
  ],
  [
    'a mistyped key of the store',
    'store: { postgres: { urll: { env: A }, url: { env: B } } }',
    '1:22 error unknown key "urll"; did you mean "url"?',
  ],
  [
    'a database without an address',
    'store: { postgres: {} }',
    '1:20 error url is missing; url must be an address',
  ],
  [
    'a store that is a number',
    'store: 5',
    '1:8 error store: must be the path of a SQLite file, or { postgres: { url: … } }',
  ],
  [
    'a lease that is not more than timeout',
    'daemon: { lease: 30s }',
    '1:18 error daemon.lease must be more than api.timeout',
  ],
  [
    'a timeout beyond the default lease of a database',
    'api: { timeout: 60s, settle: 70s }\nstore: { postgres: { url: { env: A } } }',
    '1:17 error daemon.lease must be more than api.timeout',
  ],
  [
    'listening everywhere without a token',
    'http: { listen: "0.0.0.0:80" }',
    '1:17 error listening on an address other than loopback needs `http.token`',
  ],
  [
    'two tokens with one name',
    'http: { tokens: [{ name: ci, token: { env: A }, role: read }, { name: ci, token: { env: B }, role: operate }] }',
    '1:71 error duplicate token name "ci"; give each token a different name',
  ],
  [
    'a token with the name of the first one',
    'http: { token: { env: A }, tokens: [{ name: http, token: { env: B }, role: read }] }',
    '1:45 error duplicate token name "http", the name of `http.token`; give each token a different name',
  ],
  [
    'one token for two names',
    'http: { token: { env: A }, tokens: [{ name: ci, token: { env: A }, role: read }] }',
    '1:56 error http.token is the same token; use a different token for each name',
  ],
  [
    'a token without a role',
    'http: { tokens: [{ name: ci, token: { env: A } }] }',
    '1:18 error http.tokens[1].role: must be read or operate',
  ],
  [
    'a token with an unknown role',
    'http: { tokens: [{ name: ci, token: { env: A }, role: admin }] }',
    '1:55 error http.tokens[1].role: must be read or operate',
  ],
  [
    'a token with a name of several words',
    'http: { tokens: [{ name: the CI, token: { env: A }, role: read }] }',
    '1:26 error http.tokens[1].name: must be a name of at most 64 letters',
  ],
  [
    'a proxy with a host name',
    'http: { trustedProxies: [proxy.example.com] }',
    '1:26 error http.trustedProxies[1]: must be an IP address or a network',
  ],
  [
    'a proxy network with an invalid prefix',
    'http: { trustedProxies: [10.0.0.0/33] }',
    '1:26 error http.trustedProxies[1]: must be an IP address or a network',
  ],
  [
    'a certificate without its key',
    'http: { tls: { cert: cert.pem } }',
    '1:14 error http.tls.key: is missing; add a path',
  ],
  ['a port alone', 'http: { listen: ":80" }', '1:17 error http.listen: a listening address is host:port'],
  [
    'a port out of range',
    'http: { listen: "127.0.0.1:65536" }',
    '1:17 error http.listen: a listening address is host:port',
  ],
  [
    'an address with too many numbers',
    'http: { listen: "127.0.0.1.1:80" }',
    '1:17 error http.listen: a listening address is host:port',
  ],
  [
    'a webhook without scheme',
    'notify: [{ url: hooks.example.com/s3cr3t }]',
    '1:17 error url must be an address that starts with https://, or { env: NAME }',
  ],
  [
    'a webhook with an unknown event',
    'notify: [{ url: https://x.example.com, events: [aplied] }]',
    '1:49 error notify[1].events[1]: must be drift, applied, held, failed or recovered; did you mean applied?',
  ],
  [
    'a webhook without events',
    'notify: [{ url: https://x.example.com, events: [] }]',
    '1:48 error notify[1].events: must not be an empty list',
  ],
  [
    'a webhook with its secret in the file',
    'notify: [{ url: https://x.example.com, secret: s3cr3t }]',
    '1:48 error secret must be { env: NAME }',
  ],
  [
    'credentials in the address of git',
    'source: { git: { url: "https://me:s3cr3t@x.example.com/a.git" } }',
    '1:23 error source.git.url: the address contains credentials (not shown)',
  ],
  [
    'an option in place of a repository',
    'source: { git: { url: "--upload-pack=x" } }',
    '1:23 error source.git.url: must be a repository',
  ],
  [
    'a repository over the unencrypted git protocol',
    'source: { git: { url: "git://x.example.com/a.git" } }',
    '1:23 error source.git.url: this cannot be fetched safely; use https:// or ssh',
  ],
  [
    'a repository over plain http',
    'source: { git: { url: "http://x.example.com/a.git" } }',
    '1:23 error source.git.url: this cannot be fetched safely; use https:// or ssh',
  ],
  [
    'a branch that is an option',
    'source: { git: { url: https://x.example.com/a.git, branch: "-x" } }',
    '1:60 error source.git.branch: must be the name of a git branch',
  ],
  [
    'a path out of the repository',
    'source: { git: { url: https://x.example.com/a.git, path: ../x } }',
    '1:58 error source.git.path: must be a relative path',
  ],
  ['a source without git', 'source: {}', '1:9 error source.git: is missing'],
  ['a bad default', 'defaults: { jitter: soon }', '1:21 error defaults.jitter: this is not a duration'],
  ['an unknown log level', 'log: { level: loud }', '1:15 error log.level: must be trace, debug'],
  ['an empty value', 'retention:', '1:1 error retention: has no value'],
  [
    'a boolean in quotes',
    'daemon: { runOnStart: "yes" }',
    '1:23 error daemon.runOnStart: must be true or false',
  ],
];

describe('the service file', () => {
  test.each(CASES)('with %s is reported at its position', async (_title, text, issue) => {
    const { lines, service, accounts } = await loadService(text);
    expect(lines).toEqual([expect.stringContaining(`rolecall.yaml:${issue}`)]);
    expect(lines.join()).not.toContain('s3cr3t');
    expect(service).toBeUndefined();
    expect(accounts.map(({ name, settings }) => [name, settings])).toEqual([['a', undefined]]);
  });

  test.each([
    ['', ['warning without `http.tls`, the HTTP interface sends tokens, sessions and reports unencrypted']],
    [', tls: { cert: a.pem, key: b.pem }', []],
  ])('causes a warning when it listens on more than loopback without TLS (%s)', async (tls, warnings) => {
    const tokens = 'tokens: [{ name: ci, token: { env: CI }, role: read }]';
    const { lines, service } = await loadService(`http: { listen: "0.0.0.0:80", ${tokens}${tls} }`);
    expect(lines).toEqual(warnings.map((each) => expect.stringContaining(`rolecall.yaml:1:17 ${each}`)));
    expect(service?.http.host).toBe('0.0.0.0');
  });

  test('may have a timeout beyond the default lease with SQLite', async () => {
    expect((await loadService('api: { timeout: 60s, settle: 70s }')).lines).toEqual([]);
  });

  test('can name a database, whose reference is a secret of the daemon', async () => {
    const { service, lines, secrets } = await loadService(
      'store: { postgres: { url: { file: db-url }, schema: staging } }\ndaemon: { lease: 90s }',
    );
    expect(lines).toEqual([]);
    const url = { file: expect.stringMatching(/^\/.*\/db-url$/u) };
    expect(service?.store).toEqual({ postgres: { url, schema: 'staging' } });
    expect(service?.daemon.leaseMs).toBe(90_000);
    expect(secrets.filter(({ account }) => account === undefined)).toEqual([
      expect.objectContaining({ ref: url, what: 'store.postgres.url', line: 1, column: 27 }),
    ]);
    const plain = await loadService('store: { postgres: { url: "postgres://me@db/a" } }');
    expect(plain.service?.store).toEqual({
      postgres: { url: 'postgres://me@db/a', schema: 'rolecall' },
    });
  });

  test('has the documented defaults', async () => {
    const { service, accounts, folder, lines } = await load({
      'rolecall.yaml': SERVICE,
      'accounts/a.yaml': ACCOUNT,
    });
    expect(lines).toEqual([]);
    expect(service).toEqual({
      file: path.join(folder, 'rolecall.yaml'),
      store: { file: path.resolve(folder, '../data/rolecall.db') },
      api: {
        concurrency: 8,
        requestsPerSecond: 20,
        retries: 4,
        hostConcurrency: 32,
        timeoutMs: 30_000,
        settleMs: 35_000,
        recheckMs: 2000,
        maxResponseBytes: 64 * 1024 ** 2,
        maxEntries: 20_000,
      },
      daemon: { maxRuns: 8, runOnStart: true, shutdownGraceMs: 20_000, leaseMs: 60_000 },
      http: { host: '127.0.0.1', port: 8080, tokens: [], trustedProxies: [] },
      notify: [],
      retention: { runsMs: 90 * 86_400_000, snapshotsMs: 90 * 86_400_000 },
      log: { level: 'info' },
    });
    expect(accounts[0]?.settings).toMatchObject({
      name: 'a',
      baseUrl: 'https://eu.example.com',
      region: 'eu',
      token: { env: 'A_TOKEN' },
      mode: 'plan',
      schedule: '*/15 * * * *',
      timezone: 'Etc/UTC',
      jitterMs: 30_000,
      desired: { approvedDeletes: [] },
      policy: {
        delete: 'unused',
        ownership: 'all',
        maxDeletes: 10,
        maxDeletesPerDay: 30,
        maxDeletePercent: 30,
        allowEmpty: false,
        protect: [],
        duplicates: 'report',
        unusedForMs: 86_400_000,
        freeze: [],
      },
    });
  });

  test('can contain every documented setting', async () => {
    const { service, lines, folder, secrets } = await loadService(
      `
accounts: accounts/*.yaml
store: /var/lib/rolecall.db
regions: { us: https://us.example.com/, eu: "https://EU.example.com:443/base/" }
api: { timeout: 10s, settle: 500ms, caFile: ca.pem, maxResponseBytes: 1GB }
http:
  listen: "[::]:0"
  token: { file: secrets/http }
  tokens: [{ name: ci, token: { env: CI_TOKEN }, role: read }]
  trustedProxies: [10.0.0.0/8, "fd00::1"]
  tls: { cert: tls/cert.pem, key: /etc/key.pem }
notify:
  - { url: { env: HOOK }, format: slack, events: [held, held], secret: { env: KEY } }
  - { url: "https://hooks.example.com/a?b=c" }
source: { git: { url: "https://git.example.com/b.git", credentials: { env: GIT } } }
trust: { origins: ["HTTPS://*.Example.com:443/", "https://10.0.0.?:8443"], env: [A, ACME_*], files: [/run/secrets/**, secrets/*] }
`
        .replace('settle: 500ms', 'settle: 11s')
        .replace('1GB', '100MB'),
    );
    expect(lines).toEqual([]);
    expect(service).toMatchObject({
      store: { file: '/var/lib/rolecall.db' },
      api: { caFile: path.join(folder, 'ca.pem'), maxResponseBytes: 100_000_000 },
      http: {
        host: '::',
        port: 0,
        token: { file: path.join(folder, 'secrets/http') },
        tokens: [{ name: 'ci', token: { env: 'CI_TOKEN' }, role: 'read' }],
        trustedProxies: ['10.0.0.0/8', 'fd00::1'],
        tls: { cert: path.join(folder, 'tls/cert.pem'), key: '/etc/key.pem' },
      },
      notify: [
        {
          url: { env: 'HOOK' },
          format: 'slack',
          events: ['held'],
          secret: { env: 'KEY' },
        },
        {
          url: 'https://hooks.example.com/a?b=c',
          format: 'json',
          events: ['drift', 'applied', 'held', 'failed', 'recovered'],
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
      'http.token 8',
      'token ci of http.tokens 9',
      'notify url 13',
      'notify secret 13',
      'git credentials 15',
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

  test('needs at least one account', async () => {
    const { lines } = await load({ 'rolecall.yaml': 'store: x.db\naccounts: none/*.yaml' });
    expect(lines).toEqual([expect.stringContaining('rolecall.yaml:2:11 error no file matches `accounts`')]);
  });

  test('is named relative to the working directory when it is below it', async () => {
    const { issues } = await loadConfiguration('test/unit/config/no-such.yaml');
    expect(issues[0]?.file).toBe('test/unit/config/no-such.yaml');
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
