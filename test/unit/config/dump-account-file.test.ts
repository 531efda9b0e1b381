import fc from 'fast-check';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { dumpAccount } from '../../../src/config/dump-account-file.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { nameProblem } from '../../../src/core/name-rules.ts';
import { diffKind } from '../../../src/core/diff.ts';
import type { Kind } from '../../../src/core/catalog.ts';
import { compareCodePoints, globMatcher } from '../../../src/core/names.ts';
import { entry, HISTORY, observed } from '../core/builders.ts';
import { SERVICE, workspace } from './workspace.ts';
import { times } from '../../support/thorough.ts';

const HEAD = 'baseUrl: https://eu.example.com\ntoken: { env: A }\n';

interface Dumped {
  readonly text: string;
  readonly notes: readonly string[];
  readonly errors: readonly string[];
}

const configured = (): string => workspace({ 'rolecall.yaml': `${SERVICE}accounts: "?.yaml"\nstore: x.db` });

/** Dumps the account `a` whose file has this text, with these catalogs. */
async function dumped(
  folder: string,
  text: string,
  names: { readonly skill?: readonly string[]; readonly role?: readonly string[] },
  extra: { readonly accountId?: string; readonly catalogs?: Readonly<Record<string, string>> } = {},
): Promise<Dumped> {
  const file = path.join(folder, 'a.yaml');
  mkdirSync(path.join(folder, 'catalogs'), { recursive: true });
  for (const [name, catalog] of Object.entries(extra.catalogs ?? {}))
    writeFileSync(path.join(folder, 'catalogs', name), catalog);
  writeFileSync(file, text);
  const { settings, errors } = await loaded(folder, text);
  expect(errors).toEqual([]);
  const result = await dumpAccount(
    { configFile: path.join(folder, 'rolecall.yaml'), account: { name: 'a', file } },
    {
      remoteAccountId: extra.accountId ?? null,
      observed: { skill: named(names.skill), role: named(names.role) },
      policy: settings?.policy ?? { protect: [] },
    },
  );
  return { ...result, errors: result.errors.map(({ message }) => message) };
}

const named = (names: readonly string[] = []) => names.map((name) => ({ name }));

/** Loads the text as an account's file; the one account and its errors. */
async function loaded(folder: string, text: string) {
  writeFileSync(path.join(folder, 'a.yaml'), text);
  const { accounts, issues } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
  return { settings: accounts[0]?.settings, errors: issues.filter(({ severity }) => severity === 'error') };
}

/** What the account with this text would create (+) or delete (-) when it contains these names. */
async function differences(
  folder: string,
  text: string,
  names: Readonly<Record<Kind, readonly string[]>>,
): Promise<string[]> {
  const { settings, errors } = await loaded(folder, text);
  expect(errors).toEqual([]);
  const protect = settings?.policy.protect.map(globMatcher) ?? [];
  const entries = (kind: Kind) =>
    [...new Set(names[kind].map((name) => name.normalize('NFC')))].map((name, index) =>
      entry(name, `${index}`),
    );
  const lists = observed({ skill: entries('skill'), role: entries('role') });
  return (['skill', 'role'] as const).flatMap((kind) => {
    const desired = settings?.desired[kind];
    if (desired === undefined) return [];
    const { missing, extras } = diffKind(kind, desired, {
      observed: lists,
      usage: new Map(),
      history: HISTORY,
    });
    const unprotected = extras.filter((extra) => !protect.some((matches) => matches(extra.entry.name)));
    return [...missing.map((name) => `+${name}`), ...unprotected.map((extra) => `-${extra.entry.name}`)];
  });
}

const COMMENTED = `# the account of the EU
region: eu   # not us
# who may see it
token: {env: ACME}

schedule: "0 * * * *"
# what we need
skills: # reviewed by Ann
  # languages
  - Go # since 2020
  - Perl
  # infrastructure
  - name: Kubernetes
    formerly: [K8s] # renamed in May
  - Zig

  # ask Ann before you add one
roles: [Dev,   "Q A"] # short
policy: {maxDeletes: 5}
allowedDeletes:
  # leaves in June
  - { kind: skill, name: Cobol, expires: 2026-12-31 }
  - { kind: skill, name: Fortran, expires: 2026-12-31 }
# the end
`;

describe('the dumped file of an account', () => {
  test('keeps every comment and setting that no change concerns', async () => {
    const folder = workspace({
      'rolecall.yaml': `accounts: "?.yaml"\nstore: x.db\nregions: { eu: "https://eu.example.com" }`,
    });
    const names = { skill: ['Go', 'Kubernetes', 'Zig', 'Haskell', 'Cobol'], role: ['Dev', 'Lead'] };
    const { text, notes } = await dumped(folder, COMMENTED, names, { accountId: '42' });
    expect(text).toBe(`# the account of the EU
region: eu # not us
accountId: "42"
# who may see it
token: { env: ACME }

schedule: "0 * * * *"
# what we need
skills:
  # reviewed by Ann
  # languages
  - Go # since 2020
  # infrastructure
  - name: Kubernetes
    formerly: [ K8s ] # renamed in May
  - Zig
  - Cobol
  - Haskell
  # ask Ann before you add one
roles: [ Dev, Lead ] # short
policy: { maxDeletes: 5 }
allowedDeletes:
  # leaves in June
  - { kind: skill, name: Fortran, expires: 2026-12-31 }

# the end
`);
    expect(notes).toEqual([
      'the line of `allowedDeletes` for the skill “Cobol” is removed, because the file lists it now',
    ]);
    expect(await differences(folder, text, names)).toEqual([]);
    expect((await dumped(folder, text, names, { accountId: '42' })).text).toBe(text);
  });

  test('has both lists when the file and its catalogs omitted both', async () => {
    const { text, notes } = await dumped(
      configured(),
      HEAD,
      {
        skill: ['TypeScript', 'C++', 'C#', '1.0', 'yes', 'Design: web', 'Go', 'Go', 'e\u0301', '*'],
        role: [],
      },
      { accountId: '4815162342' },
    );
    expect(text).toBe(`baseUrl: https://eu.example.com
accountId: "4815162342"
token: { env: A }
skills:
  - "*"
  - "1.0"
  - "C#"
  - C++
  - "Design: web"
  - Go
  - TypeScript
  - "yes"
  - é
roles: []
`);
    expect(notes).toEqual([]);
  });

  test('omits a kind that the file omitted', async () => {
    const { text } = await dumped(configured(), `${HEAD}skills: [A]\n`, {
      skill: ['B'],
      role: ['Dev'],
    });
    expect(text).toBe(`${HEAD}skills:\n  - B\n`);
  });

  test('adds to a sorted list in its order, and to an unsorted one at its end', async () => {
    const folder = configured();
    const names = { skill: ['Ada', 'B', 'C', 'D'], role: [] };
    const sorted = await dumped(folder, `${HEAD}skills:\n- B\n# the last\n- C\n`, names);
    expect(sorted.text).toBe(`${HEAD}skills:\n  - Ada\n  - B\n  # the last\n  - C\n  - D\n`);
    const unsorted = await dumped(folder, `${HEAD}skills:\n    - C\n    - B`, names);
    expect(unsorted.text).toBe(`${HEAD}skills:\n  - C\n  - B\n  - Ada\n  - D\n`);
  });

  test('empties lists without losing the comments beside them', async () => {
    const text = `${HEAD}skills: # ours\n  # first\n  - A\n  - B # why\nroles: [Dev] # theirs\n`;
    const result = await dumped(configured(), text, {});
    expect(result.text).toBe(`${HEAD}skills:\n  # ours\n  # first\n  []\nroles: [] # theirs\n`);
    const again = await dumped(configured(), result.text, { skill: ['A'], role: ['Dev'] });
    expect(again.text).toBe(`${HEAD}skills:\n  # ours\n  # first\n  - A\nroles:\n  - Dev\n  # theirs\n`);
  });

  test.each([
    ['- name: New # ours\n    formerly: [Old] # renamed in May', '- name: New # ours'],
    ['- formerly: # renamed in May\n      - Old # in May\n    name: New # ours', '- name: New # ours'],
    ['- { name: New, formerly: [Old] } # ours', '- { name: New } # ours'],
  ])('removes the comments of a rename with it: %j', async (written, left) => {
    const names = { skill: ['New', 'Old'] };
    const { text } = await dumped(configured(), `${HEAD}skills:\n  ${written}\n`, names);
    expect(text).toBe(`${HEAD}skills:\n  ${left}\n  - Old\n`);
  });

  test('does not copy comments with the values of aliases', async () => {
    const text = `${HEAD}skills: &both # ours\n  # above\n  - Dev # beside\n  - { name: Ops } # last\n  # below\nroles: *both # theirs\n`;
    const result = await dumped(configured(), text, { skill: ['Dev', 'Ops'], role: ['Dev', 'Ops', 'QA'] });
    expect(result.text).toBe(
      `${HEAD}skills:\n  # ours\n  # above\n  - Dev # beside\n  - { name: Ops } # last\n  # below\nroles:\n  - Dev\n  - { name: Ops }\n  - QA\n  # theirs\n`,
    );
  });

  test('removes a rename when the account contains both names, and keeps a pending one', async () => {
    const folder = configured();
    const text = `${HEAD}skills:\n  - { name: New, formerly: [Old, Older] } # 2026\n  - { name: Kept, formerly: [Gone] }\n  - { name: Lost, formerly: [Still] }\n`;
    const names = { skill: ['New', 'Old', 'Kept', 'Still'], role: [] };
    const result = await dumped(folder, text, names);
    expect(result.text).toBe(
      `${HEAD}skills:\n  - { name: New, formerly: [ Older ] } # 2026\n  - { name: Kept, formerly: [ Gone ] }\n  - Old\n  - Still\n`,
    );
    expect(result.notes).toEqual([
      expect.stringContaining('the rename of the skill “Old” to “New” is removed'),
      expect.stringContaining('the rename of the skill “Still” to “Lost” is removed'),
    ]);
    expect(result.errors).toEqual([]);
    expect(await differences(folder, result.text, names)).toEqual([]);
  });

  test('extends a catalog while the account contains all of it, and lists only the other names', async () => {
    const folder = configured();
    const catalogs = {
      'absent.yaml': 'skills: [{ name: Nim, absent: true }]\n',
      'all.yaml': 'skills: [Go, Rust, Ada, { name: Flash, absent: true }]\nroles: [Dev]\n',
      'more.yaml': 'skills: [Cobol, Go, Perl]\n',
      'renames.yaml': 'skills: [{ name: Kubernetes, formerly: [K8s] }]\n',
    };
    const text = `${HEAD}extends:\n  - { file: catalogs/all.yaml, except: { skills: [A*] } } # shared\n  - catalogs/more.yaml\n  - catalogs/renames.yaml\n  - catalogs/absent.yaml\nskills: [Zig, { name: Odin, absent: true }, { name: Basic, absent: true }]\n`;
    const names = { skill: ['Go', 'Rust', 'Perl', 'K8s', 'Kubernetes', 'Nim', 'Odin', 'Zig'], role: ['Dev'] };
    const result = await dumped(folder, text, names, { catalogs });
    expect(result.text).toBe(
      `${HEAD}extends:\n  - { file: catalogs/all.yaml, except: { skills: [ A* ] } } # shared\nskills: [ Zig, { name: Basic, absent: true }, K8s, Kubernetes, Nim, Odin, Perl ]\n`,
    );
    expect(result.notes).toEqual([
      expect.stringMatching(/^catalogs\/more.yaml is removed from `extends`: .*“Cobol”/),
      expect.stringMatching(/^catalogs\/renames.yaml is removed from `extends`: .*“Kubernetes”/),
      expect.stringMatching(/^catalogs\/absent.yaml is removed from `extends`: .*“Nim”.*wants it absent/),
      expect.stringMatching(/^the line that wants the skill “Odin” absent is removed/),
    ]);
    expect(await differences(folder, result.text, names)).toEqual([]);
  });

  test('lists a kind that only a catalog managed when that catalog is no longer extended', async () => {
    const folder = configured();
    const catalogs = { 'all.yaml': 'skills: [Go]\nroles: [Dev, Gone]\n' };
    const names = { skill: ['Go'], role: ['Dev'] };
    const result = await dumped(folder, `${HEAD}extends: [catalogs/all.yaml]\n`, names, { catalogs });
    expect(result.text).toBe(`${HEAD}extends: []\nskills:\n  - Go\nroles:\n  - Dev\n`);
    expect(await differences(folder, result.text, names)).toEqual([]);
  });

  test.each([
    ['', 'policy:\n  protect:\n    #'],
    ['policy: {}\n', 'policy:\n  protect:\n    #'],
    ['policy: {maxDeletes: 5} # few\n', 'policy:\n  maxDeletes: 5\n  protect:\n    #'],
    ['policy: { protect: ["Admin*"], maxDeletes: 5 }\n', 'policy:\n  protect:\n    - "Admin*"\n    #'],
    ['policy:\n  protect:\n  - Admin*\n  maxDeletes: 5\n', 'policy:\n  protect:\n    - Admin*\n    #'],
    ['policy:\n  maxDeletes: 5\n', 'policy:\n  maxDeletes: 5\n  protect:\n    #'],
  ])(
    'protects names that a file must not contain, with a comment, in a file with %j',
    async (policy, expected) => {
      const folder = configured();
      const names = { skill: ['', ' a*b\\c? ', 'x\ny', 'fine'], role: ['\ud800'] };
      const result = await dumped(folder, HEAD + policy, names);
      expect(result.errors).toEqual([]);
      expect(result.text).toContain(expected);
      expect(result.text).toContain('# A file must not contain these names');
      expect(await differences(folder, result.text, names)).toEqual([]);
      const { settings } = await loaded(folder, result.text);
      expect(settings?.policy.protect.some((glob) => globMatcher(glob)(' aXb\\cY '))).toBe(false);
      expect((await dumped(folder, result.text, names)).text).toBe(result.text);
    },
  );

  test('lists exactly the names of the account, whatever it listed before', async () => {
    const folder = configured();
    const TRICKY =
      '1.0|012|true|null|~|- a|? a|a: b|a:|: a|a #b|#a|&a|*a|!a|>|%a|@a|`a|"a"|\'a\'|[a]|{a}|a, b|---|...|<<|=|0x1F|1e3|' +
      '.inf|.nan|2026-01-01|No|y|a\\b|\\|a\u2028b|a\u0085b|a\ufeffb|\ufeff|e\u0301|\u00e9|👩‍💻|ﬁ|a\tb|\u00a0|\ufffe|' +
      '<<<<<<< HEAD|🇮🇱|\ud800|a\u0000|__proto__|-|?|A\u030a|\u212b|a  b|\u200f|\u0378|Ⅷ';
    const tricky = fc.constantFrom('|', 'x'.repeat(2000), ...TRICKY.split('|'));
    const name = fc.oneof(
      tricky,
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.string(),
    );
    const list = (names: readonly string[], style: number): string => {
      const usable = [...new Set(names.map((text) => text.normalize('NFC')))].filter(
        (text) => nameProblem(text) === undefined,
      );
      const quoted = usable.map((text, index) =>
        index % 3 === 2 ? `{ name: ${JSON.stringify(text)} }` : JSON.stringify(text),
      );
      if (style === 0) return ` [${quoted.join(', ')}] # flow`;
      return quoted.length === 0
        ? ' []'
        : `\n${quoted.map((text) => `  # above\n  - ${text} # beside`).join('\n')}\n  # below`;
    };
    const names = fc.array(name);
    await fc.assert(
      fc.asyncProperty(
        fc.record({ skill: names, role: names }),
        fc.option(fc.tuple(names, fc.nat(1)), { nil: null }),
        fc.option(fc.tuple(names, fc.nat(1)), { nil: null }),
        async (contents, skills, roles) => {
          const before = [
            HEAD + '# top',
            ...(skills === null ? [] : [`skills:${list(...skills)}`]),
            '# middle',
            ...(roles === null ? [] : [`roles:${list(...roles)}`]),
            '# bottom',
            '',
          ].join('\n');
          const { text, errors } = await dumped(folder, before, contents);
          expect(errors).toEqual([]);
          expect(await differences(folder, text, contents)).toEqual([]);
          for (const comment of ['# top', '# middle', '# bottom']) expect(text).toContain(comment);
          const { settings } = await loaded(folder, text);
          for (const kind of ['skill', 'role'] as const) {
            const isLeftOut = (kind === 'skill' ? skills : roles) === null && (skills ?? roles) !== null;
            const usable = [...new Set(contents[kind].map((text) => text.normalize('NFC')))].filter(
              (text) => nameProblem(text) === undefined,
            );
            expect(settings?.desired[kind]?.map((entry) => entry.name).toSorted(compareCodePoints)).toEqual(
              isLeftOut ? undefined : usable.toSorted(compareCodePoints),
            );
          }
          expect((await dumped(folder, text, contents)).text).toBe(text);
        },
      ),
      { numRuns: times(4, 60) },
    );
  });
});
