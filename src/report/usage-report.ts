// The report of `usage`: each skill and role with its number of people, unused ones, and references to unknown ids.
import { type Kind, KINDS } from '../core/catalog.ts';
import type { FailedPlan } from '../core/plan.ts';
import type { AccountUsage } from '../core/usage.ts';
import {
  code,
  codeList,
  type Line,
  type Report,
  type ReportDocument,
  type ReportOptions,
  type Section,
} from './document.ts';
import { renderReport } from './render.ts';
import { byKind, count, messageLines, people, sortedNaturally } from './formatting.ts';
import { failureStep } from './run-status.ts';

/**
 * The usage of each account: unused entries first, then the others by the number of their people. json is an array, with
 * the most used entries first, otherwise in the given order.
 */
export function renderUsage(results: readonly (AccountUsage | FailedPlan)[], options: ReportOptions): string {
  const sorted = results.map((result) =>
    'status' in result
      ? result
      : {
          schemaVersion: 1 as const,
          account: result.account,
          entries: result.entries.toSorted((a, b) => b.usedBy.length - a.usedBy.length),
          unknownReferences: result.unknownReferences,
        },
  );
  const documents = () =>
    results.map((result) => ('status' in result ? failedDocument(result) : usageDocument(result)));
  return renderReport(
    sorted,
    () => ({ title: 'rolecall usage', documents: documents() }) satisfies Report,
    options,
  );
}

function failedDocument({ account, error }: FailedPlan): ReportDocument {
  return {
    title: [code(account)],
    status: { label: `could not be read (${error.code})`, tone: 'bad' },
    headline: [],
    lines: messageLines(error.message),
    facts: [],
    sections: [],
    next: [failureStep(account, error.code, 'usage')],
  };
}

/** The report model of the usage of one account. */
export function usageDocument({ account, entries, unknownReferences }: AccountUsage): ReportDocument {
  const byName = sortedNaturally(entries, KINDS);
  const unused = byName.filter(({ usedBy }) => usedBy.length === 0);
  const used = byName
    .filter(({ usedBy }) => usedBy.length > 0)
    .toSorted((a, b) => b.usedBy.length - a.usedBy.length);
  const summary = usageSummary(entries, unused.length, unknownReferences);
  return {
    title: [code(account)],
    status: { label: summary, tone: unknownReferences.length > 0 ? 'warn' : 'good' },
    headline: [],
    facts: [],
    sections: [
      ...entrySection('Unused, nobody has them', unused),
      ...entrySection('In use', used),
      ...unknownSection(unknownReferences),
    ],
  };
}

function usageSummary(
  entries: AccountUsage['entries'],
  unused: number,
  unknownReferences: AccountUsage['unknownReferences'],
): string {
  const kinds = byKind(entries).map(([kind, some]) => count(some.length, kind));
  const parts = [kinds.length === 0 ? 'no skills and no roles' : kinds.join(' and ')];
  if (entries.length > 0) parts.push(`${unused} unused`);
  if (unknownReferences.length > 0)
    parts.push(count(unknownReferences.length, 'reference to an unknown id', 'references to unknown ids'));
  return parts.join(', ');
}

function entrySection(title: string, entries: AccountUsage['entries']): Section[] {
  if (entries.length === 0) return [];
  const columns = [
    { head: 'People', align: 'right' } as const,
    { head: 'Kind' },
    { head: 'Name' },
    { head: 'Id' },
  ];
  const rows = entries.map(({ kind, name, remoteId, usedBy }): Line[] => [
    usedBy.length === 0 ? [] : [people(usedBy.length)],
    [kind],
    [code(name)],
    [code(remoteId)],
  ]);
  return [{ title, count: entries.length, groups: [{ columns, rows }] }];
}

/** One row for each unknown id, with the people who refer to it. */
function unknownSection(references: AccountUsage['unknownReferences']): Section[] {
  const holders = new Map<string, { kind: Kind; remoteId: string; resourceIds: string[] }>();
  for (const { kind, remoteId, resourceId } of references) {
    const key = JSON.stringify([kind, remoteId]);
    const holder = holders.get(key);
    if (holder === undefined) holders.set(key, { kind, remoteId, resourceIds: [resourceId] });
    else holder.resourceIds.push(resourceId);
  }
  if (holders.size === 0) return [];
  const columns = [
    { head: 'People', align: 'right' } as const,
    { head: 'Kind' },
    { head: 'Id' },
    { head: 'Who', below: true } as const,
  ];
  const rows = [...holders.values()].map(({ kind, remoteId, resourceIds }): Line[] => [
    [people(resourceIds.length)],
    [kind],
    [code(remoteId)],
    [codeList(resourceIds)],
  ]);
  return [
    {
      title: 'Unknown ids',
      count: holders.size,
      tone: 'warn',
      intro: ['People refer to these ids, but no list contains them.'],
      groups: [{ columns, rows }],
    },
  ];
}
