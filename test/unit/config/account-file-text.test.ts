import fc from 'fast-check';
import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { accountFileText } from '../../../src/config/account-file-text.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { nameProblem } from '../../../src/config/name-text.ts';
import { compareCodePoints, globMatcher } from '../../../src/core/names.ts';
import { SERVICE, workspace } from './workspace.ts';

const account = { baseUrl: 'https://eu.example.com', token: { env: 'A' } };

/** Loads the text as an account's file; the one account and its errors. */
async function loaded(folder: string, text: string) {
  writeFileSync(path.join(folder, 'a.yaml'), text);
  const { accounts, issues } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
  return { settings: accounts[0]?.settings, errors: issues.filter(({ severity }) => severity === 'error') };
}

const configured = (): string => workspace({ 'rolecall.yaml': `${SERVICE}accounts: "?.yaml"\nstore: x.db` });

describe('the text of an account file', () => {
  test('is what a person would write', () => {
    const text = accountFileText({
      account: {
        region: 'eu',
        baseUrl: 'https://eu.example.com',
        token: { env: 'ACME' },
        mode: 'apply',
        schedule: '0 * * * *',
      },
      accountId: '4815162342',
      skills: ['TypeScript', 'C++', 'C#', '1.0', 'yes', 'Design: web', 'Go', 'Go', 'e\u0301', '*'],
      roles: [],
    });
    expect(text).toBe(`region: eu
accountId: "4815162342"
token: { env: "ACME" }
mode: apply
schedule: "0 * * * *"
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
  });

  test('protects what a file may not hold', async () => {
    const text = accountFileText({
      account,
      accountId: null,
      skills: ['', ' a*b\\c? ', 'x\ny', 'fine'],
      roles: ['\ud800'],
    });
    const { settings, errors } = await loaded(configured(), text);
    expect(errors).toEqual([]);
    expect(settings?.desired.skill).toEqual([{ name: 'fine', formerly: [] }]);
    expect(settings?.desired.role).toEqual([]);
    const protectedNames = ['', ' a*b\\c? ', 'x\ny', '\ud800'];
    for (const name of protectedNames) {
      expect(settings?.policy.protect.filter((glob) => globMatcher(glob)(name))).toHaveLength(1);
    }
    expect(settings?.policy.protect.some((glob) => globMatcher(glob)(' aXb\\cY '))).toBe(false);
    expect(text).toContain('# A file may not hold these names');
  });

  test('keeps a token file, a pin and an address without encryption', async () => {
    const text = accountFileText({
      account: { baseUrl: 'http://x.example.com', token: { file: '/run/secrets/a b"c' }, mode: 'approve' },
      accountId: '007',
      skills: [],
      roles: [],
    });
    const { settings, errors } = await loaded(configured(), text);
    expect(errors).toEqual([]);
    expect(settings).toMatchObject({
      baseUrl: 'http://x.example.com',
      token: { file: '/run/secrets/a b"c' },
      accountId: '007',
      mode: 'approve',
      desired: { skill: [], role: [] },
    });
  });

  test('asks for exactly the names that it was made from', { timeout: 20_000 }, async () => {
    const folder = configured();
    const tricky = fc.constantFrom(
      '1.0',
      '012',
      'true',
      'null',
      '~',
      '- a',
      '? a',
      'a: b',
      'a:',
      ': a',
      'a #b',
      '#a',
      '&a',
      '*a',
      '!a',
      '|',
      '>',
      '%a',
      '@a',
      '`a',
      '"a"',
      "'a'",
      '[a]',
      '{a}',
      'a, b',
      '---',
      '...',
      '<<',
      '=',
      '0x1F',
      '1e3',
      '.inf',
      '.nan',
      '2026-01-01',
      'No',
      'y',
      'a\\b',
      '\\',
      'a\u2028b',
      'a\u0085b',
      'a\ufeffb',
      '\ufeff',
      'e\u0301',
      '\u00e9',
      '👩‍💻',
      'ﬁ',
      'a\tb',
      '\u00a0',
      '\ufffe',
      '<<<<<<< HEAD',
      '🇮🇱',
      '\ud800',
      'a\u0000',
      '__proto__',
      '-',
      '?',
      'A\u030a',
      '\u212b',
      'x'.repeat(2000),
      'a  b',
      '\u200f',
      '\u0378',
      'Ⅷ',
    );
    const name = fc.oneof(
      tricky,
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(name), fc.array(name), async (skills, roles) => {
        const { settings, errors } = await loaded(
          folder,
          accountFileText({ account, accountId: null, skills, roles }),
        );
        expect(errors).toEqual([]);
        const normal = (names: readonly string[]) =>
          [...new Set(names.map((text) => text.normalize('NFC')))].toSorted(compareCodePoints);
        const holdable = (names: readonly string[]) =>
          normal(names).filter((text) => nameProblem(text) === undefined);
        expect(settings?.desired.skill?.map((entry) => entry.name)).toEqual(holdable(skills));
        expect(settings?.desired.role?.map((entry) => entry.name)).toEqual(holdable(roles));
        const globs = settings?.policy.protect.map(globMatcher) ?? [];
        for (const text of normal([...skills, ...roles])) {
          expect(globs.some((matches) => matches(text))).toBe(nameProblem(text) !== undefined);
        }
      }),
      { numRuns: 300 },
    );
  });
});
