// The report of `usage`: each skill and role with its number of people, unused ones, and references to unknown ids.
import { KINDS } from '../core/catalog.ts';
import type { FailedPlan } from '../core/plan.ts';
import type { AccountUsage } from '../core/usage.ts';
import {
  code,
  type Column,
  type Line,
  type ReportDocument,
  type ReportOptions,
  type Section,
} from './document.ts';
import { byKind, count, messageLines, people, sortedNaturally } from './formatting.ts';
import { renderReport } from './render.ts';
import { failureStep } from './run-status.ts';

/** The usage of each account, with the most used entries first. json is an array. */
export function renderUsage(results: readonly (AccountUsage | FailedPlan)[], options: ReportOptions): string {
  const sorted = results.map((result) =>
    'status' in result
      ? result
      : {
          schemaVersion: 1,
          account: result.account,
          entries: result.entries.toSorted((a, b) => b.usedBy.length - a.usedBy.length),
          unknownReferences: result.unknownReferences,
        },
  );
  const model = () => ({
    title: 'rolecall usage',
    documents: results.map((result) => ('status' in result ? failedDocument(result) : usageDocument(result))),
  });
  return renderReport(sorted, model, options);
}

function failedDocument({ account, error }: FailedPlan): ReportDocument {
  return {
    title: [code(account)],
    status: { label: `could not be read (${error.code})`, tone: 'bad' },
    lines: messageLines(error.message),
    next: [failureStep(account, error.code, 'usage')],
  };
}

/** Unused entries first, since those are what people look for. */
function usageDocument({ account, entries, unknownReferences: unknown }: AccountUsage): ReportDocument {
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
  const columns: Column[] = [
    { head: 'People', align: 'right' },
    { head: 'Kind' },
    { head: 'Name' },
    { head: 'Id' },
  ];
  const section = (title: string, some: AccountUsage['entries']): Section[] => {
    const rows = some.map(({ kind, name, remoteId, usedBy }): Line[] => [
      usedBy.length === 0 ? [] : [people(usedBy.length)],
      [kind],
      [code(name)],
      [code(remoteId)],
    ]);
    return rows.length === 0 ? [] : [{ title, count: rows.length, groups: [{ columns, rows }] }];
  };
  return {
    title: [code(account)],
    status: { label, tone: unknown.length > 0 ? 'warn' : 'good' },
    sections: [
      ...section('Unused, nobody has them', unused),
      ...section('In use', used),
      ...unknownSection(unknown),
    ],
  };
}

function unknownSection(references: AccountUsage['unknownReferences']): Section[] {
  if (references.length === 0) return [];
  const columns = [{ head: 'Kind' }, { head: 'Id' }, { head: 'Person' }];
  const rows = references.map(({ kind, remoteId, resourceId }) => [
    [kind],
    [code(remoteId)],
    [code(resourceId)],
  ]);
  return [
    {
      title: 'References to unknown ids',
      count: rows.length,
      tone: 'warn',
      intro: ['People refer to these ids, but no list contains them.'],
      groups: [{ columns, rows }],
    },
  ];
}
