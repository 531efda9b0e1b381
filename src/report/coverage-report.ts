// The report of `who` without a name: each skill and role with its number of people, unused ones, and references to unknown ids.
import { KINDS } from '../core/catalog.ts';
import type { FailedPlan } from '../core/plan.ts';
import type { AccountUsage } from '../core/usage.ts';
import {
  code,
  columnsOf,
  type Line,
  type ReportDocument,
  type ReportOptions,
  type Section,
  tableSection,
} from './document.ts';
import { byKind, count, people, sortedNaturally } from './formatting.ts';
import { renderReport } from './render.ts';
import { failedDocument } from './run-status.ts';

/** The coverage of each account, with the most used entries first. json is an array. */
export function renderCoverage(
  results: readonly (AccountUsage | FailedPlan)[],
  options: ReportOptions,
): string {
  const sorted = results.map((result) =>
    'status' in result
      ? result
      : {
          schemaVersion: 1,
          ...result,
          entries: result.entries.toSorted((a, b) => b.usedBy.length - a.usedBy.length),
        },
  );
  const model = () => ({
    title: 'rolecall who',
    documents: results.map((result) =>
      'status' in result ? failedDocument(result, 'who') : coverageDocument(result),
    ),
  });
  return renderReport(sorted, model, options);
}

/** Unused entries first, since those are what people look for. */
function coverageDocument({
  account,
  takenAt,
  entries,
  unknownReferences: unknown,
}: AccountUsage): ReportDocument {
  const byName = sortedNaturally(entries, KINDS);
  const unused = byName.filter(({ usedBy }) => usedBy.length === 0);
  const used = byName
    .filter(({ usedBy }) => usedBy.length > 0)
    .toSorted((a, b) => b.usedBy.length - a.usedBy.length);
  const kinds = byKind(entries).map(([kind, some]) => count(some.length, kind));
  const label = [
    kinds.length === 0 ? 'no skills and no roles' : kinds.join(' and '),
    ...(entries.length === 0 ? [] : [`${unused.length} unused`]),
    ...(unknown.length === 0
      ? []
      : [count(unknown.length, 'reference to an unknown id', 'references to unknown ids')]),
  ].join(', ');
  const columns = columnsOf({ head: 'People', align: 'right' }, 'Kind', 'Name', 'Id');
  const section = (title: string, some: AccountUsage['entries']): Section[] => {
    const rows = some.map(({ kind, name, remoteId, usedBy }): Line[] => [
      usedBy.length === 0 ? [] : [people(usedBy.length)],
      [kind],
      [code(name)],
      [code(remoteId)],
    ]);
    return tableSection(title, { columns, rows });
  };
  return {
    title: [code(account)],
    status: { label, tone: unknown.length > 0 ? 'warn' : 'good' },
    facts: [{ label: 'Lists', line: ['read ', { time: takenAt }] }],
    sections: [
      ...section('Unused, nobody has them', unused),
      ...section('In use', used),
      ...unknownSection(unknown),
    ],
  };
}

function unknownSection(references: AccountUsage['unknownReferences']): Section[] {
  const columns = columnsOf('Kind', 'Id', 'Person');
  const rows = references.map(({ kind, remoteId, resourceId }) => [
    [kind],
    [code(remoteId)],
    [code(resourceId)],
  ]);
  const intro = ['People refer to these ids, but no list contains them.'];
  return tableSection('References to unknown ids', { columns, rows }, { tone: 'warn', intro });
}
