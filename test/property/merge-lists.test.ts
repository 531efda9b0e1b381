// Catalogs are merged once for all accounts that extend them. The result must be that of merging all lists at once.
import fc from 'fast-check';
import '../support/seed.ts';
import { times } from '../support/thorough.ts';
import { describe, expect, it } from 'vitest';
import { listMerger } from '../../src/config/merge-lists.ts';
import { readNameLists } from '../../src/config/name-list.ts';
import { parseYaml } from '../../src/config/yaml/yaml-file.ts';

/** Few names, so that most lists have some in common, or names that are near. */
const name = fc.constantFrom('A', 'a', 'B', 'C', 'c ', 'Dé', 'De', 'E', 'F f', 'Ff');
const entry = fc.record({
  name,
  formerly: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(name, { maxLength: 2 })),
});
const list = fc.array(entry, { maxLength: 5 });

function written(file: string, entries: unknown) {
  const { file: parsed } = parseYaml({
    path: `/${file}`,
    shown: file,
    text: JSON.stringify({ skills: entries }),
  });
  return (parsed === undefined ? undefined : readNameLists(parsed).skill) ?? [];
}

describe('the lists of an account and its catalogs', () => {
  it('are merged with shared catalogs as if they were merged alone', () => {
    let withOwn = 0;
    fc.assert(
      fc.property(
        fc.array(list, { maxLength: 3 }),
        fc.array(list, { maxLength: 4 }),
        (catalogs, accounts) => {
          const shared = catalogs.map((entries, index) => written(`catalog-${index}`, entries));
          const merge = listMerger();
          for (const [index, entries] of accounts.entries()) {
            const own = written(`account-${index}`, entries);
            const alone = listMerger()('skill', [...shared, own], undefined);
            const { entries: merged, issues } = merge('skill', shared, own);
            expect(merged).toEqual(alone.entries);
            expect(issues).toEqual(alone.issues);
            if (merged.length > 0) withOwn += 1;
          }
        },
      ),
      { numRuns: times(200, 400) },
    );
    expect(withOwn).toBeGreaterThan(100);
  });
});
