import { describe, expect, test } from 'vitest';
import { ACCOUNT, load, loadAccount } from './workspace.ts';

/** The text of a file from line 3 on, and the start of each of its issues: `line:column message`. */
const CASES: readonly (readonly [title: string, text: string, ...issues: string[]])[] = [
  ['a mistyped key', 'polcy: {}', '3:1 error unknown key "polcy"; did you mean "policy"?'],
  [
    'a key unlike any known one',
    'zebra: 1',
    '3:1 error unknown key "zebra"; the keys here are accountId, allowInsecure',
  ],
  [
    'a mistyped key of the policy',
    'policy: { maxDelete: 3 }',
    '3:11 error unknown key "maxDelete"; did you mean "maxDeletes"?',
  ],
  ['a duplicate key', 'mode: plan\nmode: apply', '4:1 error duplicate key "mode"; remove one of them'],
  ['a merge key', '<<: {}', '3:1 error unknown key "<<"'],
  ['a duplicate name', 'skills: [A, B, A]', '3:16 error duplicate skill "A": line 3 has it too'],
  [
    'names that are equal after normalisation',
    'skills: ["\u00e9", "e\u0301"]',
    '3:15 error duplicate skill "é"',
  ],
  ['a duplicate name in two forms', 'roles:\n  - A\n  - name: A', '5:11 error duplicate role "A": line 4'],
  ['an empty name', 'skills: [""]', '3:10 error a name is empty'],
  ['an empty item', 'skills:\n  -\n  - A', '4:4 error an item of this list is empty'],
  ['a control character', 'skills: ["a\\tb"]', '3:10 error a name contains a control character'],
  [
    'a name of more than 1,000 characters',
    `skills: [${'x'.repeat(1001)}]`,
    '3:10 error a name has more than 1,000 characters; shorten it',
  ],
  ['a line separator', 'skills: ["a\\u2028b"]', '3:10 error a name contains a control character'],
  ['an unpaired surrogate', 'skills: ["a\\ud800"]', '3:10 error a name contains half of a character'],
  ['leading white space', 'skills: [" a"]', '3:10 error a name has leading or trailing white space'],
  [
    'a trailing no-break space',
    'skills: ["a\u00a0"]',
    '3:10 error a name has leading or trailing white space',
  ],
  ['a block scalar', 'skills:\n  - |\n    a', '4:5 error a name contains a control character'],
  ['a number', 'skills:\n  - 1.0', '4:5 error YAML does not read this name as text; quote it: "1.0"'],
  [
    'a number with a zero',
    'skills:\n  - 012',
    '4:5 error YAML does not read this name as text; quote it: "012"',
  ],
  ['a boolean', 'skills: [true]', '3:10 error YAML does not read this name as text; quote it: "true"'],
  ['a null', 'skills: [null]', '3:10 error YAML does not read this name as text; quote it: "null"'],
  ['a tilde', 'skills: [~]', '3:10 error YAML does not read this name as text; quote it: "~"'],
  [
    'a number as `name`',
    'skills: [{ name: 1e3 }]',
    '3:18 error YAML does not read this name as text; quote it: "1e3"',
  ],
  [
    'a number in `formerly`',
    'skills: [{ name: A, formerly: [0x1F] }]',
    '3:32 error YAML does not read this name as text; quote it: "0x1F"',
  ],
  [
    'a `formerly` that is not a list',
    'skills: [{ name: A, formerly: B }]',
    '3:31 error `formerly` must be a list',
  ],
  ['an entry without a name', 'skills: [{ formerly: [B] }]', '3:10 error an entry needs a `name`'],
  [
    'an unknown key of an entry',
    'skills: [{ name: A, formaly: [B] }]',
    '3:21 error unknown key "formaly"; did you mean "formerly"?',
  ],
  [
    'a name with a colon',
    'skills:\n  - Design: web',
    '4:5 error unknown key "Design" in an entry, which has only name and formerly; if the line is',
  ],
  ['a list in a list', 'skills: [[A]]', '3:10 error an item of this list must be a name'],
  ['a kind without a value', 'skills:', '3:1 error skills has no value: write `skills: []`'],
  ['a kind that is not a list', 'roles: A', '3:8 error roles must be a list'],
  [
    'a former name twice in one entry',
    'skills: [{ name: A, formerly: [B, B] }]',
    '3:35 error duplicate name "B" in `formerly`',
  ],
  [
    'an entry with its own name in `formerly`',
    'skills: [{ name: A, formerly: [A] }]',
    '3:32 error "A" is the entry\'s own name',
  ],
  [
    'a former name of two entries',
    'skills: [{ name: A, formerly: [C] }, { name: B, formerly: [C] }]',
    '3:60 error the skill "C" is also in `formerly` of "A"',
  ],
  [
    'a former name that is desired',
    'skills: [B, { name: A, formerly: [B] }]',
    '3:35 error the skill "B" is both desired and in `formerly` of "A"',
  ],
  [
    'an approval for a desired name',
    'skills: [A]\napprovedDeletes: [{ kind: skill, name: A, expires: 2999-12-31 }]',
    '4:40 error the skill "A" is both desired and in `approvedDeletes`',
  ],
  [
    'an approval given twice',
    'skills: []\napprovedDeletes: [{ kind: skill, name: A, expires: 2999-12-31 }, { kind: skill, name: A, expires: 2999-12-31 }]',
    '4:87 error the skill "A" is approved twice',
  ],
  [
    'an approval of an unmanaged kind',
    'approvedDeletes: [{ kind: role, name: A, expires: 2999-12-31 }]',
    '3:27 warning the role "A" is approved, but this account file has no roles list',
  ],
  [
    'an expired approval',
    'skills: []\napprovedDeletes: [{ kind: skill, name: A, expires: 2026-06-14 }]',
    '4:52 warning the approval for the skill "A" expired on 2026-06-14',
  ],
  [
    'a date that does not exist',
    'skills: []\napprovedDeletes: [{ kind: skill, name: A, expires: 2026-02-30 }]',
    '4:52 error approvedDeletes[1].expires: this is not a date of the calendar',
  ],
  [
    'a year alone',
    'skills: []\napprovedDeletes: [{ kind: skill, name: A, expires: 2026 }]',
    '4:52 error approvedDeletes[1].expires: must be a date such as 2026-12-31; YAML does not read this as text; quote it: "2026"',
  ],
  [
    'an approval of an unknown kind',
    'approvedDeletes: [{ kind: skil, name: A, expires: 2999-12-31 }]',
    '3:27 error approvedDeletes[1].kind: must be skill or role; did you mean skill?',
  ],
  [
    'an approval without a name',
    'approvedDeletes: [{ kind: skill, expires: 2999-12-31 }]',
    '3:19 error approvedDeletes[1].name: is missing',
  ],
  [
    'an approval without a last day',
    'skills: []\napprovedDeletes: [{ kind: skill, name: A }]',
    '4:19 error approvedDeletes[1].expires: is missing; add a date such as 2026-12-31',
  ],
  [
    'near names',
    'skills: [TypeScript, typescript]',
    '3:22 warning the skill "typescript" is nearly the same as "TypeScript"',
  ],
  [
    'an invisible character',
    'skills: ["a\u200bb"]',
    '3:10 warning the name "a\u200bb" has invisible or unusual characters (U+200B at 2)',
  ],
  [
    'many invisible characters',
    'skills: ["👩‍💻a\u202eb\u00adc\u3000d\u2800e\u3164f\u{e0041}"]',
    '3:10 warning the name "👩\u200d💻a\u202eb\u00adc　d⠀eㅤf\u{e0041}" has invisible or unusual characters (U+202E at 5, U+00AD at 7, U+3000 at 9, U+2800 at 11, U+3164 at 13 … and 1 more)',
  ],
  [
    'too many marks on one character',
    'skills: ["a b\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301"]',
    `3:10 warning the name "a b${'\u0301'.repeat(9)}" has invisible or unusual characters (U+0301 at 12)`,
  ],
  [
    'letters of another script that look like Latin ones',
    'skills: ["Pyth\u043en", "\u0421SS", Python]',
    '3:10 warning the name "Pythоn" has invisible or unusual characters (U+043E at 5)',
    '3:20 warning the name "СSS" has invisible or unusual characters (U+0421 at 1)',
  ],
  [
    'a right-to-left override',
    'skills: ["a\u202eb"]',
    '3:10 warning the name "a\u202eb" has invisible or unusual characters (U+202E at 2)',
  ],
  [
    'an account id as a number',
    'accountId: 4815162342',
    '3:12 error accountId: must be the account id in quotes, because a number would lose digits; YAML does not read this as text; quote it: "4815162342"',
  ],

  [
    'an account id that is too large for a number',
    'accountId: 9007199254740993',
    '3:12 error accountId: must be the account id in quotes, because a number would lose digits; YAML does not read this as text; quote it: "9007199254740993"',
  ],
  ['an unknown mode', 'mode: aply', '3:7 error mode: must be plan, approve or apply; did you mean apply?'],
  ['a duration without a unit', 'jitter: 30', '3:9 error jitter: must be a duration such as 500ms'],
  ['a duration with an unknown unit', 'jitter: 30x', '3:9 error jitter: this is not a duration'],
  [
    'a duration that is too long for a timer',
    'jitter: 25d',
    '3:9 error jitter: this is too long; the maximum is 24d',
  ],
  ['a schedule with four fields', 'schedule: "* * * *"', '3:11 error schedule: a schedule has five fields'],
  [
    'a step beyond its field',
    'schedule: "*/70 * * * *"',
    '3:11 error schedule: the minute field: a step must be 1 to 59',
  ],
  [
    'a schedule that never runs',
    'schedule: "0 0 31 2 *"',
    '3:11 error schedule: no month of this schedule has that day',
  ],
  [
    'an unknown time zone',
    'timezone: Europe/Berlln',
    '3:11 error timezone: this is not a time zone; did you mean Europe/Berlin?',
  ],
  ['a policy without a value', 'policy:', '3:1 error policy: has no value'],
  ['a negative limit', 'policy: { maxDeletes: -1 }', '3:23 error policy.maxDeletes: must be at least 0'],
  ['a fraction', 'policy: { maxDeletes: 1.5 }', '3:23 error policy.maxDeletes: must be a whole number'],
  ['a number in quotes', 'policy: { maxDeletes: "1" }', '3:23 error policy.maxDeletes: must be a number'],
  [
    'a percentage over 100',
    'policy: { maxDeletePercent: 101 }',
    '3:29 error policy.maxDeletePercent: must be at most 100',
  ],
  [
    'a window that ends before it begins',
    'policy: { freeze: [{ from: 2026-12-31, to: 2026-12-01 }] }',
    '3:44 error policy.freeze[1].to: the window ends before it starts',
  ],
  [
    'a window with an invalid date',
    'policy: { freeze: [{ from: 2026-13-01, to: 2026-12-01 }] }',
    '3:28 error policy.freeze[1].from: this is not a date',
  ],
  [
    'a window with a bad cron line',
    'policy: { freeze: [{ cron: "* *", for: 2h }] }',
    '3:28 error policy.freeze[1].cron: a schedule has five fields',
  ],
  [
    'a window with keys of both forms',
    'policy: { freeze: [{ from: 2026-12-01, to: 2026-12-31, cron: "0 18 * * FRI", for: 60h }] }',
    '3:56 error policy.freeze[1]: "cron" does not go with the other keys here; write { from: DATE, to: DATE } or { cron: "LINE", for: DURATION }',
    '3:78 error policy.freeze[1]: "for" does not go with the other keys here',
  ],
  [
    'a window that is text',
    'policy: { freeze: [friday] }',
    '3:20 error policy.freeze[1]: must be { from: DATE, to: DATE } or { cron',
  ],
  ['a missing catalog', 'extends: [../c.yaml]', '3:11 error there is no file "c.yaml"; correct the path'],
  ['`extends` that is not a list', 'extends: c.yaml', '3:10 error extends: must be a list'],
];

describe('an account file', () => {
  test.each(CASES)('with %s is reported at its position', async (_title, text, ...expected) => {
    const { lines, accounts } = await loadAccount(text);
    expect(lines).toEqual(expected.map((issue) => expect.stringContaining(`accounts/a.yaml:${issue}`)));
    const broken = expected.some((issue) => issue.includes(' error '));
    expect(accounts[0]?.settings === undefined).toBe(broken);
  });

  test.each([
    ['a token in the file', 'token: "s3cr3t"'],
    ['a token that YAML reads as a number', 'token: 123123'],
    ['a token under an unknown key', 'token: { value: s3cr3t }'],
    ['a token as a key', 'token: { s3cr3t: }'],
    ['a token in place of a variable name', 'token: { env: "s3cr3t-123123" }'],
    ['a list of tokens', 'token: [s3cr3t]'],
    ['two references', 'token: { env: A, file: s3cr3t }'],
  ])('is reported without repeating %s', async (_title, text) => {
    const { lines } = await load({ 'accounts/a.yaml': `region: eu\n${text}\n` });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(
      'a.yaml:2:8 error token must be { env: NAME } or { file: PATH }, never the secret itself',
    );
    expect(lines.join()).not.toMatch(/s3cr3t|123123/u);
  });

  test.each([
    'token: !s3cr3t',
    'token: *s3cr3t',
    'token: @s3cr3t',
    'token: "s3cr3t" s3cr3t',
    'token: "\\s3cr3t',
    'tokn: s3cr3t',
    'token: |s3cr3t',
  ])('is reported without repeating a value of broken YAML: %s', async (text) => {
    const { lines } = await load({ 'accounts/a.yaml': `region: eu\n${text}\n` });
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join()).not.toContain('s3cr3t');
  });

  test.each([
    ['no address', 'token: { env: A }', '1:1 error `region` or `baseUrl` is missing'],
    [
      'two addresses',
      'region: eu\nbaseUrl: https://x.example.com\ntoken: { env: A }',
      '2:1 error an account has either `region` or `baseUrl`',
    ],
    [
      'an unknown region',
      'region: ue\ntoken: { env: A }',
      '1:9 error unknown region "ue"; known regions: eu; did you mean eu?',
    ],
    ['no token', 'region: eu', '1:1 error token is missing; token must be { env: NAME }'],
    [
      'plain http to another machine',
      'baseUrl: http://x.example.com\ntoken: { env: A }',
      '1:10 error http:// would send the token',
    ],
    [
      'another scheme',
      'baseUrl: ftp://x\ntoken: { env: A }',
      '1:10 error baseUrl: an address starts with https://',
    ],
    [
      'credentials in the address',
      'baseUrl: https://me:s3cr3t@x.example.com\ntoken: { env: A }',
      '1:10 error baseUrl: an address must not contain a user name',
    ],
    [
      'a query in the address',
      'baseUrl: https://x.example.com/?k=s3cr3t\ntoken: { env: A }',
      '1:10 error baseUrl: a base address has no ?',
    ],
    [
      'a fragment in the address',
      'baseUrl: "https://x.example.com/#s3cr3t"\ntoken: { env: A }',
      '1:10 error baseUrl: a base address has no ?',
    ],
    [
      'the path of the API',
      'baseUrl: https://x.example.com/api/public/v1/\ntoken: { env: A }',
      '1:10 error baseUrl: rolecall adds /api/public/v1 to the base address',
    ],
  ])('with %s is reported', async (_title, text, issue) => {
    const { lines } = await load({ 'accounts/a.yaml': text });
    expect(lines).toEqual([expect.stringContaining(`accounts/a.yaml:${issue}`)]);
    expect(lines.join()).not.toContain('s3cr3t');
  });

  test('has all its problems reported together', async () => {
    const { lines } = await loadAccount('mode: x\nskills: [1, 1.0]\npolcy: {}\njitter: 5\n');
    expect(lines.map((text) => text.split(' ')[0])).toEqual([
      'accounts/a.yaml:3:7',
      'accounts/a.yaml:4:10',
      'accounts/a.yaml:4:13',
      'accounts/a.yaml:5:1',
      'accounts/a.yaml:6:9',
    ]);
  });

  test('can contain everything that YAML 1.2 reads as text, comments, aliases and emoji', async () => {
    const { lines, accounts } = await loadAccount(
      'skills: [2026-01-01, yes, on, C++, C#, "1.0", &x Go] # comment\nroles: [*x, 👩‍💻 Engineer, ❤️]\n',
    );
    expect(lines).toEqual([]);
    expect(accounts[0]?.settings?.desired.skill?.map(({ name }) => name)).toEqual([
      '2026-01-01',
      'yes',
      'on',
      'C++',
      'C#',
      '1.0',
      'Go',
    ]);
    expect(accounts[0]?.settings?.desired.role?.map(({ name }) => name)).toEqual(['Go', '👩‍💻 Engineer', '❤️']);
  });

  test('must have a name of letters, digits, points, underscores and hyphens', async () => {
    const { lines } = await load({ 'accounts/a b.yaml': ACCOUNT });
    expect(lines).toEqual([
      expect.stringContaining('accounts/a b.yaml:1:1 error "a b" is not a valid account name'),
    ]);
  });
});
