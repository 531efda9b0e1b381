// What holds for every load of a damaged file: each problem is reported with a place, and the other accounts load.
// ROLECALL_FUZZ_SEED tries other files than the usual ones, ROLECALL_FUZZ_RUNS more of them.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { filesFromMemory } from '../../src/config/configuration-files.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { times } from '../support/thorough.ts';

const seed = Number(process.env['ROLECALL_FUZZ_SEED'] ?? 20260615);
const numRuns = Number(process.env['ROLECALL_FUZZ_RUNS'] ?? times(60, 4000));

const real = (file: string): string => readFileSync(new URL(`../../config/${file}`, import.meta.url), 'utf8');
const FINE = 'baseUrl: https://fine.example.com\ntoken: { env: FINE_TOKEN }\nskills: [Fine]\n';
const FILES: Readonly<Record<string, string>> = {
  'rolecall.yaml': real('rolecall.yaml'),
  'accounts/acme-eu.yaml': real('accounts/acme-eu.yaml'),
  'catalogs/engineering.yaml': real('catalogs/engineering.yaml'),
};
const PIECES =
  '[ | ] | { | } | , | : | - | ? | &a | *a | !t | > | " | \' | # | %YAML 1.1\n | \n--- \n | \t | \n | \r | \0 | \u2028 | <<: | ~ | 1e999 | skills: | token: s3cret-value\n | \n<<<<<<< HEAD\n | \ud800'.split(
    ' | ',
  );

/** A file in which a part is replaced by something else. */
const damaged = fc
  .record({
    file: fc.constantFrom(...Object.keys(FILES)),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    removed: fc.nat(40),
    added: fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 10 })),
  })
  .map(({ file, at, removed, added }) => {
    const text = FILES[file] ?? '';
    const start = Math.round(at * text.length);
    return { file, text: text.slice(0, start) + added + text.slice(start + removed) };
  });

it('a damaged file is reported with the place of the problem, and never hinders another account', async () => {
  await fc.assert(
    fc.asyncProperty(damaged, async ({ file, text }) => {
      const files = filesFromMemory('/r', { ...FILES, 'accounts/fine.yaml': FINE, [file]: text });
      const { accounts, issues } = await loadConfiguration('/r/rolecall.yaml', { files });
      const all = [...issues, ...accounts.flatMap((account) => account.issues)];
      for (const { message, line, column } of all) {
        expect([message.length > 10, line >= 1, column >= 1]).toEqual([true, true, true]);
        expect(message).not.toContain('s3cret-value');
      }
      const isOfService = file === 'rolecall.yaml';
      if (!isOfService) expect(accounts.find(({ name }) => name === 'fine')?.settings).toBeDefined();
    }),
    { seed, numRuns },
  );
});

it('a list in which a dash, a comma or the indentation of a line is wrong has the same names or is an error', async () => {
  const name = fc.stringMatching(/^[A-Z][a-z+#]{0,4}(?: [a-z]{2,4})?$/u);
  const names = fc.uniqueArray(name, { minLength: 2, maxLength: 6 });
  const start = fc.stringMatching(/^ {0,5}-? {0,2}$/u);
  await fc.assert(
    fc.asyncProperty(names, fc.nat(5), start, fc.boolean(), async (written, nth, wrong, isFlow) => {
      const at = nth % written.length;
      const block = written.map((each, index) => `${index === at ? wrong : '  - '}${each}\n`).join('');
      const flow = written.map((each, index) => `  ${each}${index === at ? '' : ','}\n`).join('');
      const files = filesFromMemory('/r', {
        'rolecall.yaml': '{}',
        'accounts/a.yaml': `${FINE.replace('[Fine]', '')}${isFlow ? `[\n${flow}  ]` : `\n${block}`}`,
      });
      const { accounts } = await loadConfiguration('/r/rolecall.yaml', { files });
      const { settings } = accounts[0] ?? {};
      if (settings !== undefined) expect(settings.desired.skill?.map((each) => each.name)).toEqual(written);
    }),
    { seed, numRuns },
  );
});
