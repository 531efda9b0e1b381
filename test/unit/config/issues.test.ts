// Every message about a file, at its position. test/e2e/bad-input.test.ts and hostile-configuration.test.ts have more.
import { describe, expect, test } from 'vitest';
import { ACCOUNT, load, loadAccount, loadService } from './workspace.ts';

/** A text, and the start of its issue or of each of its issues: `line:column severity message`. */
type Cases = Readonly<Record<string, string | readonly string[]>>;

function casesOf(cases: Cases): [string, readonly string[]][] {
  return Object.entries(cases).map(([text, issues]) => [text, [issues].flat()]);
}

function joinedAt(...places: readonly string[]): readonly string[] {
  return places.map((place) => `${place} error YAML joins this line and the next one to one value`);
}

/** Account files from line 3 on. */
const ACCOUNTS: Cases = {
  'polcy: {}': '3:1 error unknown key "polcy"; did you mean "policy"?',
  'zebra: 1': '3:1 error unknown key "zebra"; the keys here are accountId, allowInsecure',
  '<<: {}': '3:1 error merge keys (<<) are not supported; write the keys here',
  'skills:\n  - A\n    B\n  - C\n\n   - D # E\n  - name: F\n      G\n  - ? H\n      I': joinedAt(
    '4:5',
    '6:5',
    '9:11',
    '11:7',
  ),
  'roles: [A\n  B, { name: C, formerly: [D\n  "E"] }]\nextends: [{ file: c.yaml, except: { roles: [F\n  G] } }]\nallowedDeletes: [{ kind: role, name: H\n  I, expires: 2999-12-31 }]\npolicy: { protect: [J,\n  K\r\n  L] }\nrollout: { after: [&m M\n  N] }':
    joinedAt('3:9', '4:28', '6:45', '8:38', '11:3', '13:23'),
  'skills:\n  - A\n\u00a0\u00a0- B\n \t\u3000\n  -\u202fC': [
    '5:1 error this line is indented with a non-breaking space',
    '6:3 error this line is indented with a non-breaking space',
    '7:4 error this line is indented with a non-breaking space',
  ],
  'roles:\n  - A\n  - name: A': '5:11 error duplicate role "A": line 4',
  'skills:\n  -\n  - A': '4:4 error an item of this list is empty',
  [`skills: [${'x'.repeat(1001)}]`]: '3:10 error a name has more than 1,000 characters; shorten it',
  'skills: ["a\\u2028b"]': '3:10 error a name contains a control character',
  'skills: ["a\\ud800"]': '3:10 error a name contains half of a character',
  'skills: ["a\u00a0"]': '3:10 error a name has leading or trailing white space',
  'skills: [""]': '3:10 error a name ',
  'skills:\n  - |\n    a': '4:5 error a name contains a control character',
  'skills: [{ name: 1e3 }]': '3:18 error YAML does not read this name as text; quote it: "1e3"',
  'skills: [{ name: A, formerly: [0x1F] }]':
    '3:32 error YAML does not read this name as text; quote it: "0x1F"',
  'skills: [{ name: A, formerly: B }]': '3:31 error `formerly` must be a list',
  'skills: [{ formerly: [B] }]': '3:10 error an entry needs a `name`',
  'skills: [{ name: A, formaly: [B] }]': '3:21 error unknown key "formaly"; did you mean "formerly"?',
  'skills:\n  - Design: web':
    '4:5 error unknown key "Design" in an entry, which has only name, formerly, absent; if the line is',
  'skills: [[A]]': '3:10 error an item of this list must be a name',
  'roles: A': '3:8 error roles must be a list',
  'skills: [{ name: A, formerly: [B, B] }]': '3:35 error duplicate name "B" in `formerly`',
  'skills: [{ name: A, formerly: [A] }]': '3:32 error "A" is the entry\'s own name',
  'skills: [{ name: A, formerly: [C] }, { name: B, formerly: [C] }]':
    '3:60 error the skill "C" is also in `formerly` of "A"',
  'skills: []\nallowedDeletes: [{ kind: skill, name: A, expires: 2999-12-31 }, { kind: skill, name: A, expires: 2999-12-31 }]':
    '4:86 error the skill "A" is in `allowedDeletes` twice',
  'allowedDeletes: [{ kind: role, name: A, expires: 2999-12-31 }]':
    '3:26 warning the role "A" is in `allowedDeletes`, but this account file has no roles list',
  'skills: []\nallowedDeletes: [{ kind: skill, name: A, expires: 2026-06-14 }]':
    '4:51 warning the line of `allowedDeletes` for the skill "A" expired on 2026-06-14',
  'skills: []\nallowedDeletes: [{ kind: skill, name: A, expires: 2026-02-30 }]':
    '4:51 error allowedDeletes[1].expires: this is not a date of the calendar',
  'skills: []\nallowedDeletes: [{ kind: skill, name: A, expires: 2026 }]':
    '4:51 error allowedDeletes[1].expires: must be a date such as 2026-12-31',
  'allowedDeletes: [{ kind: skil, name: A, expires: 2999-12-31 }]':
    '3:26 error allowedDeletes[1].kind: must be skill or role; did you mean skill?',
  'allowedDeletes: [{ kind: skill, expires: 2999-12-31 }]': '3:18 error allowedDeletes[1].name: is missing',
  'skills: []\nallowedDeletes: [{ kind: skill, name: A }]':
    '4:18 error allowedDeletes[1].expires: is missing; add a date such as 2026-12-31',
  'skills: [TypeScript, typescript]':
    '3:22 warning the skill "typescript" is nearly the same as "TypeScript"',
  'skills: ["a\u200bb"]':
    '3:10 warning the name "a\u200bb" has invisible or unusual characters (U+200B at 2)',
  'skills: ["👩\u200d💻a\u202eb\u00adc\u3000d\u2800e\u3164f\u{e0041}"]':
    '3:10 warning the name "👩\u200d💻a\u202eb\u00adc\u3000d\u2800e\u3164f\u{e0041}" has invisible or unusual characters (U+202E at 5, U+00AD at 7, U+3000 at 9, U+2800 at 11, U+3164 at 13 … and 1 more)',
  [`skills: ["a b${'\u0301'.repeat(9)}"]`]: `3:10 warning the name "a b${'\u0301'.repeat(9)}" has invisible or unusual characters (U+0301 at 12)`,
  'skills: ["Pyth\u043en", "\u0421SS", Python]': [
    '3:10 warning the name "Pyth\u043en" has invisible or unusual characters (U+043E at 5)',
    '3:20 warning the name "\u0421SS" has invisible or unusual characters (U+0421 at 1)',
  ],
  'accountId: 9007199254740993':
    '3:12 error accountId: must be the account id in quotes, because a number would lose digits',
  'mode: aply': '3:7 error mode: must be plan, approve, approve-deletes or apply; did you mean apply?',
  'policy: { unusedFor: 30 }': '3:22 error policy.unusedFor: must be a duration such as 500ms',
  'policy: { unusedFor: 30x }': '3:22 error policy.unusedFor: this is not a duration',
  'schedule: "* * * *"': '3:11 error schedule: a schedule has five fields',
  'schedule: "*/70 * * * *"': '3:11 error schedule: the minute field: use 0 to 59, *, ranges',
  'schedule: "0 0 31 2 *"': '3:11 error schedule: no month of this schedule has that day',
  'timezone: Europe/Berlln': '3:11 error timezone: this is not a time zone; did you mean Europe/Berlin?',
  'policy:': '3:1 error policy: has no value',
  'policy: { maxDeletes: -1 }': '3:23 error policy.maxDeletes: must be at least 0',
  'policy: { maxDeletes: 1.5 }': '3:23 error policy.maxDeletes: must be a whole number',
  'policy: { maxDeletes: "1" }': '3:23 error policy.maxDeletes: must be a number',
  'policy: { maxDeletePercent: 101 }': '3:29 error policy.maxDeletePercent: must be at most 100',
  'policy: { freeze: [{ from: 2026-12-31, to: 2026-12-01 }] }':
    '3:44 error policy.freeze[1].to: the window ends before it starts',
  'policy: { freeze: [{ from: 2026-13-01, to: 2026-12-01 }] }':
    '3:28 error policy.freeze[1].from: this is not a date',
  'policy: { freeze: [{ cron: "* *", for: 2h }] }':
    '3:28 error policy.freeze[1].cron: a schedule has five fields',
  'policy: { freeze: [{ from: 2026-12-01, to: 2026-12-31, cron: "0 18 * * FRI", for: 60h }] }': [
    '3:56 error unknown key "cron"; the keys here are from, to',
    '3:78 error unknown key "for"; the keys here are from, to',
  ],
  'policy: { freeze: [friday] }': '3:20 error policy.freeze[1]: must be { from: DATE, to: DATE } or { cron',
  'extends: c.yaml': '3:10 error extends: must be a list',
};

/** Complete account files. */
const FILES: Cases = {
  'token: { env: A }': '1:1 error `region` or `baseUrl` is missing',
  'region: eu\nbaseUrl: https://x.example.com\ntoken: { env: A }':
    '2:1 error an account has either `region` or `baseUrl`',
  'region: us\nbaseUrl: http://example.com\ntoken: { env: A }\nmode: soon\n': [
    '1:9 error unknown region "us"',
    '2:1 error an account has either',
    '2:10 error http:// would send the token',
    '4:7 error mode: must be plan,',
  ],
  'region: ue\ntoken: { env: A }': '1:9 error unknown region "ue"; known regions: eu; did you mean eu?',
  'region: eu\ntoken: { env: A\n  B }\naccountId: 12\n  34': joinedAt('2:15', '4:12'),
  'region: eu': '1:1 error token: is missing; it must be { env: NAME }',
  'region: eu\ntoken: secret':
    '2:8 error token: must be { env: NAME } or { file: PATH }, never the secret itself',
  'baseUrl: ftp://x\ntoken: { env: A }': '1:10 error baseUrl: an address starts with https://',
  'baseUrl: https://me:x@x.example.com\ntoken: { env: A }':
    '1:10 error baseUrl: an address must not contain a user name',
  'baseUrl: https://x.example.com/?k=x\ntoken: { env: A }': '1:10 error baseUrl: a base address has no ?',
  'baseUrl: https://x.example.com/api/public/v1/\ntoken: { env: A }':
    '1:10 error baseUrl: rolecall adds /api/public/v1 to the base address',
  '- a': '1:1 error the file must be a mapping',
  hello: '1:1 error the file must be a mapping',
  [`${ACCOUNT}skills: [A,\r\n||||||| 9fceb02\r\nB]\r\n`]: '4:1 error the file has a git merge conflict here',
  [`${ACCOUNT}# no roles yet\rroles: []\n`]:
    '3:15 error the file has a carriage return without a line feed here',
  [`${ACCOUNT}skills: [A, { name: B }\nroles: []\n`]:
    '4:1 error the indentation does not fit; indent every entry of a list or mapping by the same number of spaces, and close',
  [`${ACCOUNT}extends: ["a]`]: '3:14 error YAML: missing closing "quote',
  [`${ACCOUNT}mode: a: b\n`]: '3:7 error this line has a second ": "',
  [`${ACCOUNT}skills: [*name]\n`]: '3:10 error YAML reads * at the start of a value as an alias',
  [`x0: &x0 [a]\n${Array.from({ length: 60 }, (_, i) => `x${i + 1}: &x${i + 1} [*x${i}]\n`).join('')}`]:
    '2:10 error a value with an anchor (&name) must not contain an alias (*name)',
};

/** Service files. */
const SERVICES: Cases = {
  'trust: { origins: [https://host/path] }': '1:20 error trust.origins[1]: an origin is https://host',
  'trust: { origins: [host] }': '1:20 error trust.origins[1]: an origin is https://host',
  'trust: { env: ["ACME TOKEN"] }': '1:16 error trust.env[1]: must be the name of a variable',
  'trust: { file: [a] }': '1:10 error unknown key "file"; did you mean "files"?',
  'notfy: []': '1:1 error unknown key "notfy"; did you mean "notify"?',
  'api: { timout: 1s }': '1:8 error unknown key "timout"; did you mean "timeout"?',
  'regions: { eu: eu.example.com }': '1:16 error regions.eu: an address starts with https://',
  'regions: { "e u": https://x.example.com }': '1:12 error regions.e u: a key here may have only',
  'api: { timeout: 30s, settle: 30s }': '1:30 error api.settle must be more than api.timeout',
  'api: { timeout: 40s }': '1:17 error api.settle must be more than api.timeout',
  'api: { timeout: 0s }': '1:17 error api.timeout: this is too short; the minimum is 1ms',
  'api: { concurrency: 0 }': '1:21 error api.concurrency: must be at least 1',
  'store: { postgres: { url: "postgres://me:s3cr3t@db.example.com/a" } }':
    '1:27 error store.postgres.url: must be an address such as postgres://rolecall@db.example.com/rolecall?sslmode=verify-full without a password',
  'store: { postgres: { url: "postgres://db.example.com/a?pass%77ord=s3cr3t" } }':
    '1:27 error store.postgres.url: must be an address such as',
  'store: { postgres: { url: "postgres://me@db.example.com/a?ssl_mode=s3cr3t" } }':
    '1:27 error store.postgres.url: must be an address such as',
  'store: { postgres: { url: { env: A }, schema: Role-Call } }':
    '1:47 error store.postgres.schema: must be the name of a schema',
  'store: { postgres: { url: { env: A }, schema: pg_catalog } }':
    '1:47 error store.postgres.schema: must be the name of a schema',
  'store: { postgres: { urll: { env: A }, url: { env: B } } }':
    '1:22 error unknown key "urll"; did you mean "url"?',
  'store: { postgres: {} }': '1:20 error store.postgres.url: is missing; it must be an address',
  'store: 5': '1:8 error store: must be the path of a SQLite file, or { postgres: { url: … } }',
  'api: { timeout: 25d }': '1:17 error api.timeout: this is too long; the maximum is 24d',
  'http: { listen: "0.0.0.0:80" }':
    '1:17 error listening on an address other than loopback needs `http.token`',
  'http: { tokens: [{ name: ci, token: { env: A }, role: read }, { name: ci, token: { env: B }, role: operate }] }':
    '1:71 error duplicate token name "ci"; give each token a different name',
  'http: { token: { env: A }, tokens: [{ name: http, token: { env: B }, role: read }] }':
    '1:45 error duplicate token name "http"; give each token a different name',
  'http: { token: { env: A }, tokens: [{ name: ci, token: { env: A }, role: read }] }':
    '1:56 error another name has the same token; use a different token for each name',
  'http: { tokens: [{ name: ci, token: { env: A } }] }':
    '1:18 error http.tokens[1].role: must be read or operate',
  'http: { tokens: [{ name: ci, token: { env: A }, role: admin }] }':
    '1:55 error http.tokens[1].role: must be read or operate',
  'http: { tokens: [{ name: the CI, token: { env: A }, role: read }] }':
    '1:26 error http.tokens[1].name: must be a name of at most 64 letters',
  'http: { identityHeader: X-Forwarded-User }':
    '1:25 error `http.identityHeader` needs `http.trustedProxies`, because anybody else could send the header',
  'http: { trustedProxies: [], identityHeader: X-Forwarded-User }':
    '1:45 error `http.identityHeader` needs `http.trustedProxies`',
  'http: { operators: ["*"] }': '1:20 error `http.operators` needs `http.identityHeader`',
  'http: { trustedProxies: [10.0.0.7], identityHeader: Cookie }':
    '1:53 error http.identityHeader: must be the name of a header of its own',
  'http: { trustedProxies: [proxy.example.com] }':
    '1:26 error http.trustedProxies[1]: must be an IP address or a network',
  'http: { trustedProxies: [10.0.0.0/33] }':
    '1:26 error http.trustedProxies[1]: must be an IP address or a network',
  'http: { listen: ":80" }': '1:17 error http.listen: a listening address is host:port',
  'http: { listen: "127.0.0.1.1:80" }': '1:17 error http.listen: a listening address is host:port',
  'notify: [{ url: hooks.example.com/s3cr3t }]':
    '1:17 error notify[1].url: must be an address that starts with https://, or { env: NAME }',
  'notify: [{ url: https://x.example.com, events: [aplied] }]':
    '1:49 error notify[1].events[1]: must be drift, applied, held, failed or recovered; did you mean applied?',
  'notify: [{ url: https://x.example.com, events: [] }]':
    '1:48 error notify[1].events: must not be an empty list',
  'notify: [{ format: slack, token: { env: A } }]': [
    '1:10 error the format slack needs `url`; add it',
    '1:34 error the format slack does not use `token`; remove it',
  ],
  'notify: [{ format: github, url: http://x.example.com, repository: a/b/c, events: [held] }]': [
    '1:10 error the format github needs `token`; add it',
    '1:33 error write the address of the server, with https://',
    '1:82 error the format github does not use `events`; remove it',
  ],
  'notify: [{ format: gitlab, repository: a, token: { env: A } }]':
    '1:40 error notify[1].repository: must be a repository',
  'notify: [{ format: gitlab, url: { env: A }, repository: a/b/c, token: { env: B } }]':
    '1:33 error write the address of the server',
  'http: { publicUrl: rolecall.example.com }': '1:20 error http.publicUrl: an address starts with https://',
  'http: { publicUrl: "https://x.example.com/?key=s3cr3t" }':
    '1:20 error http.publicUrl: a base address has no ?',
  'notify: [{ url: https://x.example.com, secret: s3cr3t }]':
    '1:48 error notify[1].secret: must be { env: NAME }',
  'source: { git: { url: "https://me:s3cr3t@x.example.com/a.git" } }':
    '1:23 error source.git.url: the address contains credentials (not shown)',
  'source: { git: { url: "--upload-pack=x" } }': '1:23 error source.git.url: must be a repository',
  'source: { git: { url: "git://x.example.com/a.git" } }':
    '1:23 error source.git.url: this cannot be fetched safely; use https:// or ssh',
  'source: { git: { url: "http://x.example.com/a.git" } }':
    '1:23 error source.git.url: this cannot be fetched safely; use https:// or ssh',
  'source: { git: { url: https://x.example.com/a.git, branch: "-x" } }':
    '1:60 error source.git.branch: must be the name of a git branch',
  'source: { git: { url: https://x.example.com/a.git, path: ../x } }':
    '1:58 error source.git.path: must be a relative path',
  'source: {}': '1:9 error source.git: is missing',
  'log: loud': '1:6 error log: must be trace, debug',
  'retention:': '1:1 error retention: has no value',
};

describe('the position and the fix of each issue are reported', () => {
  test.each(casesOf(ACCOUNTS))('of an account file with %j', async (text, issues) => {
    const { lines, accounts } = await loadAccount(text);
    expect(lines).toEqual(issues.map((issue) => expect.stringContaining(`accounts/a.yaml:${issue}`)));
    const isBroken = issues.some((issue) => issue.includes(' error '));
    expect(accounts[0]?.settings === undefined).toBe(isBroken);
  });

  test.each(casesOf(FILES))('of the account file %j', async (text, issues) => {
    const { lines } = await load({ 'accounts/a.yaml': text });
    expect(lines).toEqual(issues.map((issue) => expect.stringContaining(`accounts/a.yaml:${issue}`)));
  });

  test.each(casesOf(SERVICES))('of the service file %j', async (text, issues) => {
    const { lines, service, accounts } = await loadService(text);
    expect(lines).toEqual(issues.map((issue) => expect.stringContaining(`rolecall.yaml:${issue}`)));
    expect(lines.join()).not.toContain('s3cr3t');
    expect(service).toBeUndefined();
    expect(accounts.map(({ name, settings }) => [name, settings])).toEqual([['a', undefined]]);
  });

  test('of several problems together', async () => {
    const { lines } = await loadAccount(
      'mode: x\nskills: [1, 1.0]\npolcy: {}\ntimezone: 5\nextends: [../c.yaml]',
      { 'c.yaml': 'roles:\n  - A\n    B\n' },
    );
    expect(lines.map((text) => text.split(' ')[0])).toEqual([
      'accounts/a.yaml:3:7',
      'accounts/a.yaml:4:10',
      'accounts/a.yaml:4:13',
      'accounts/a.yaml:5:1',
      'accounts/a.yaml:6:11',
      'c.yaml:2:5',
    ]);
  });

  test('of each value without quotes that spans lines in a service file', async () => {
    const { lines } = await load({
      'rolecall.yaml':
        'trust: { env: [A_*\n  B] }\naccounts: a/*\n  b/*\ndefaults: { policy: { protect: [A\n  B] } }',
    });
    const issues = joinedAt('1:16', '3:11', '5:33');
    expect(lines).toEqual(issues.map((issue) => expect.stringContaining(`rolecall.yaml:${issue}`)));
  });

  test('of the name of an account', async () => {
    const { lines } = await load({ 'accounts/a b.yaml': ACCOUNT });
    expect(lines).toEqual([
      expect.stringContaining('accounts/a b.yaml:1:1 error "a b" is not a valid account name'),
    ]);
  });
});

test('an account file can contain everything that YAML 1.2 reads as text, comments, aliases and emoji', async () => {
  const { lines, accounts } = await loadAccount(
    'skills: [2026-01-01, yes, on, C++, C#, "1.0", &x Go] # comment\nroles: [*x, 👩‍💻 Engineer, ❤️, "On\n  call", \'<<\']\n',
  );
  expect(lines).toEqual([]);
  const { skill, role } = accounts[0]?.settings?.desired ?? {};
  const skills = ['2026-01-01', 'yes', 'on', 'C++', 'C#', '1.0', 'Go'];
  expect(skill?.map(({ name }) => name)).toEqual(skills);
  expect(role?.map(({ name }) => name)).toEqual(['Go', '👩‍💻 Engineer', '❤️', 'On call', '<<']);
});
