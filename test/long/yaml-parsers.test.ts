// The comparison of test/unit/yaml/simple-yaml.test.ts for many more texts. ROLECALL_FUZZ_RUNS sets how many,
// ROLECALL_FUZZ_SEED which.
import { expect, it } from 'vitest';
import { compareParsers, yamlText } from '../support/yaml-texts.ts';

const runs = Math.max(Number(process.env['ROLECALL_FUZZ_RUNS'] ?? 0), 200_000);
const seed = Number(process.env['ROLECALL_FUZZ_SEED'] ?? Date.now());

it(
  `both YAML parsers return the same nodes for ${runs} texts (seed ${seed})`,
  { timeout: 30 * 60_000 },
  () => {
    const differences: { readonly text: string; readonly result: string }[] = [];
    let equal = 0;
    for (let number = seed; number < seed + runs && differences.length < 20; number += 1) {
      const text = yamlText(number);
      const result = compareParsers(text);
      if (result === 'equal') equal += 1;
      else if (result !== 'other') differences.push({ text, result });
    }
    expect(differences).toEqual([]);
    expect(equal).toBeGreaterThan(runs / 5);
  },
);
