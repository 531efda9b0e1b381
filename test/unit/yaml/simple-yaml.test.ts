import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseSimpleYaml } from '../../../src/yaml/simple-yaml.ts';
import { compareParsers, yamlText } from '../../support/yaml-texts.ts';

/** test/long/yaml-parsers.test.ts compares many more. */
const TEXTS = 2000;

describe('the parser of simple YAML', () => {
  it('returns the same nodes as the complete parser, or leaves the text to it', () => {
    const results = Array.from({ length: TEXTS }, (_, number) => ({
      text: yamlText(number),
      result: compareParsers(yamlText(number)),
    }));
    expect(results.filter(({ result }) => result !== 'equal' && result !== 'other')).toEqual([]);
    // Otherwise the comparison would compare nothing.
    expect(results.filter(({ result }) => result === 'equal').length).toBeGreaterThan(TEXTS / 5);
  });

  it.each(['accounts/acme-eu.yaml', 'accounts/acme-us.yaml', 'catalogs/engineering.yaml', 'rolecall.yaml'])(
    'reads %s, the example',
    (file) => {
      const text = readFileSync(new URL(`../../../config/${file}`, import.meta.url), 'utf8');
      expect(compareParsers(text)).toBe('equal');
    },
  );

  it.each([
    ['a number', '1.0'],
    ['a number that starts with zero', '012'],
    ['a whole number', '12'],
    ['a boolean', 'true'],
    ['null', 'null'],
    ['a tilde', '~'],
    ['nothing', ''],
    ['an infinite number', '.inf'],
  ])('leaves a list to the complete parser if YAML reads a name as %s', (_, name) => {
    expect(parseSimpleYaml(`skills:\n  - A\n  - ${name}\n`)).toBeUndefined();
    expect(parseSimpleYaml(`skills: [A, ${name}]\n`)).toBeUndefined();
  });
});
