// Advice from a report can be copied into an account file: it is accepted there and has the announced effect.
import fc from 'fast-check';
import '../support/seed.ts';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { filesFromMemory } from '../../src/config/configuration-files.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { nameProblem } from '../../src/core/name-rules.ts';
import { yamlQuoted, yamlText } from '../../src/core/yaml-text.ts';
import { visible } from '../../src/report/escape-invisible.ts';
import { renderPlans } from '../../src/report/plan-report.ts';
import { HOSTILE_NAMES } from '../support/hostile-names.ts';
import { entry, heldAs, person, plan, rulesFor, UNLIMITED as ANY_NUMBER } from '../unit/core/builders.ts';
import { times } from '../support/thorough.ts';

const tricky = fc.constantFrom(
  ' lead', 'trail ', '\ttab', 'line\nbreak', '\u00a0', 'a  b', '1.0', '012', 'true', 'null', '~', 'yes', 'a: b', 'a:',
  '# a', 'a #b', '- a', '[a]', '{a}', 'a, b', '"a"', "it's", 'a\\u0041', 'a\\\\u', '\\', 'a\\', '::error::x', '##[group]x',
  '\u001b[31m', '\u202eback', 'zero\u200bwidth', '\u0301', 'Z\u0308', '👩‍💻', '\u{e0041}', '<<', '=', '!x', '&x', '*x', '%x',
  '@x', '`x', '|', '>', '?', 'x'.repeat(300), '\ufeff', '\u2028', '\u0085', '{ kind: skill, name: a }',
); // prettier-ignore
const name = fc
  .oneof(tricky, fc.string({ unit: 'binary', minLength: 1 }), fc.string({ unit: 'grapheme', minLength: 1 }))
  // An unpaired surrogate cannot be written to a file, and more than 30 marks in a row are not normalised.
  .filter((text) => !/\p{Cs}|\p{M}{31}/u.test(text) && text.trim() !== '');

const HEAD = 'baseUrl: https://eu.example.com\ntoken: { env: A }\n';

/** The desired catalog of an account file with these lines, and its errors. */
async function loaded(lines: string) {
  const files = filesFromMemory('/x', {
    'rolecall.yaml': 'accounts: "?.yaml"\nstore: x.db\n',
    'a.yaml': `${HEAD}${lines}\n`,
  });
  const { accounts, issues } = await loadConfiguration('/x/rolecall.yaml', { files });
  return {
    desired: accounts[0]?.settings?.desired,
    errors: issues.filter(({ severity }) => severity === 'error'),
  };
}

const UNLIMITED = { ...ANY_NUMBER, delete: 'unused' } as const;
const HOLDERS = [person('p1', ['1']), person('p2', ['1'])];

describe('advice in a report', () => {
  test('to allow a delete is accepted as it is shown, and releases the delete', async () => {
    await fc.assert(
      fc.asyncProperty(name, async (old) => {
        const observed = { skill: [entry(old, '1'), entry('Kept', '2')], resources: HOLDERS };
        const before = plan({ skills: ['Kept'], observed });
        const shown = visible(heldAs(before, old).release);
        const [, advice = ''] = / or add (\{ kind: skill, name: .* \}) to allowedDeletes$/s.exec(shown) ?? [];
        expect(parse(`- ${advice}`)).toEqual([{ kind: 'skill', name: old, expires: '2026-03-24' }]);
        const { desired, errors } = await loaded(`skills: [Kept]\nallowedDeletes:\n  - ${advice}`);
        expect(errors).toEqual([]);
        const after = plan({
          skills: ['Kept'],
          observed,
          allowedDeletes: desired?.allowedDeletes ?? [],
        });
        expect(after.operations).toMatchObject([{ action: 'delete', name: old }]);
      }),
    );
  });

  test.each(['text', 'markdown'] as const)(
    'to allow many deletes is one block of %s that is accepted as it is shown, also when it is shortened',
    async (format) => {
      const old = HOSTILE_NAMES.filter((each) => each !== '' && !/\p{Cs}|\p{M}{31}/u.test(each));
      const names = [...new Set(old.map((each) => each.normalize('NFC')))];
      const observed = {
        skill: [...names.map((each) => entry(each)), entry('Kept')],
        resources: [person('p1', names)],
      };
      const before = plan({ skills: ['Kept'], observed });
      for (const verbose of format === 'text' ? [true, false] : [false]) {
        const report = renderPlans([before], { format, colour: false, width: 80, verbose });
        const blocks = [...report.matchAll(/^allowedDeletes:\n(?: {2}[-#].*\n)+/gm)].map(([block]) => block);
        expect(blocks).toHaveLength(1);
        const { desired, errors } = await loaded(`skills: [Kept]\n${blocks.join('')}`);
        expect(errors).toEqual([]);
        const allowedDeletes = desired?.allowedDeletes ?? [];
        const isShort = format === 'text' && !verbose;
        if (isShort) expect(blocks[0]).toContain(`# … and ${names.length - allowedDeletes.length} more`);
        else
          expect(new Set(allowedDeletes.map((each) => ('name' in each ? each.name : '')))).toEqual(
            new Set(names),
          );
        expect(allowedDeletes.length).toBeGreaterThan(9);
        const after = plan({ skills: ['Kept'], observed, allowedDeletes, policy: UNLIMITED });
        expect(after.operations).toHaveLength(allowedDeletes.length);
      }
    },
  );

  test('to declare a rename is accepted as it is shown, and marks the rename', async () => {
    await fc.assert(
      fc.asyncProperty(name, async (base) => {
        const old = `${base} `;
        const near = base.trim().normalize('NFC');
        if (nameProblem(near) !== undefined) return;
        const observed = { skill: [entry(old, '1')], resources: HOLDERS };
        const before = plan({ skills: [near], observed });
        if (!rulesFor(before, old).includes('rename')) return;
        const shown = visible(heldAs(before, old).release);
        const [, advice = ''] = /write the new name as (\{ name: .*\] \}); if not/s.exec(shown) ?? [];
        expect(parse(`- ${advice}`)).toEqual([{ name: near, formerly: [old] }]);
        const { desired, errors } = await loaded(`skills:\n  - ${advice}`);
        expect(errors).toEqual([]);
        const after = plan({ skills: [...(desired?.skill ?? [])], observed });
        expect(rulesFor(after, old)).toContain('rename');
      }),
    );
  });

  test('is one line of YAML that parses to exactly the given text', () => {
    fc.assert(
      fc.property(fc.oneof(tricky, fc.string({ unit: 'binary' })), (text) => {
        for (const written of [yamlText(text), yamlQuoted(text)]) {
          const shown = visible(written);
          expect(shown).not.toMatch(/[\n\r]| {2}/);
          expect(parse(shown)).toBe(text);
          expect(parse(`- { a: ${shown}, b: [${shown}, ${shown}] }`)).toEqual([{ a: text, b: [text, text] }]);
        }
      }),
      { numRuns: times(120, 1000) },
    );
  });
});
