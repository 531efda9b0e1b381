// Shows equal documents of several accounts once, with the names of the accounts. What affects people or is blocked is never
// folded, and comes first.
import { count } from '../core/amounts.ts';
import { groupBy } from '../core/names.ts';
import type { Plan } from '../core/plan.ts';
import { code, type Line, type ReportDocument, type Section } from './document.ts';
import { type Affected, heldPeople, losingPeople } from './plan-sentence.ts';

/** So many accounts are named one by one; of more, the number is shown. */
export const NAMED_ACCOUNTS = 12;

/** The document of one account among several. */
export interface AccountDocument {
  readonly account: string;
  readonly document: ReportDocument;
  /** What is shown where no other account has the same document, if that is another one. */
  readonly alone?: ReportDocument;
  /** Whether it failed or is blocked. */
  readonly isProblem: boolean;
  /** Decides who is affected; null: nobody. */
  readonly plan: Plan | null;
}

/** The most affected people first, then what failed or is blocked, then the folded rest; at last what has nothing to do. */
export function foldDocuments(all: readonly AccountDocument[], verbose?: boolean): ReportDocument[] {
  const ranked = all
    .map((each) => ({ ...each, rank: rankOf(each) }))
    .toSorted((a, b) => b.rank.map((each, at) => each - (a.rank[at] ?? 0)).find((by) => by !== 0) ?? 0);
  const groups = groupBy(ranked, (each) => foldKey(each, verbose) ?? each);
  return [...groups.values()].map((group) => foldedDocument(group, verbose));
}

/** The people who lose something and those who have what is held, each with the deletes of which nobody can tell. */
function affectedBy({ plan }: AccountDocument): number[] {
  const amount = ({ people, unknown }: Affected) => people + unknown;
  return plan === null ? [0, 0] : [amount(losingPeople(plan)), amount(heldPeople(plan))];
}

function rankOf(each: AccountDocument): number[] {
  return [...affectedBy(each), Number(each.isProblem), Number(!isQuietLine(each.document))];
}

/** Whether only the title is shown, since there is nothing to do. */
export function isQuietLine({ status, sections = [] }: ReportDocument): boolean {
  return status?.tone === 'good' && sections.length === 0;
}

/** Equal for documents that are shown once; null for one that is never folded. */
export function foldKey(each: AccountDocument, verbose?: boolean): string | null {
  const isMore = each.isProblem && (each.document.sections ?? []).length > 0;
  if (isMore || affectedBy(each).some((amount) => amount > 0)) return null;
  return JSON.stringify(sharedPart(each.document, verbose));
}

/** Without what is the account's own: ids, times, the number of its other entries, and, unless `verbose`, those left alone. */
function sharedPart(document: ReportDocument, verbose = false) {
  const { status, headline = [], lines = [], sections = [], facts = [] } = document;
  return {
    ...(status === undefined ? {} : { status: { label: status.label, tone: status.tone } }),
    headline,
    lines,
    sections: sections.filter(({ quiet }) => verbose || quiet !== true).map(withoutOwn),
    facts: facts.filter(({ isShared }) => isShared),
  };
}

function withoutOwn(section: Section): Section {
  const groups = section.groups.map((group) => {
    const isShared = (_: unknown, index: number): boolean => group.columns[index]?.own !== true;
    const rows = group.rows.map((row) => row.filter(isShared));
    return { ...group, columns: group.columns.filter(isShared), rows };
  });
  return { ...section, groups };
}

const OWN_ENTRIES = { label: 'Left alone', line: ['entries of their own; --verbose shows them'] };

function foldedDocument(
  group: readonly [AccountDocument, ...AccountDocument[]],
  verbose?: boolean,
): ReportDocument {
  const { document, alone = document } = group[0];
  if (group.length === 1) return alone;
  const { headline, facts, ...shared } = sharedPart(document, verbose);
  const isQuiet = isQuietLine(document);
  const names = isQuiet && !verbose ? [] : [namesLine(group, verbose)];
  const title = [`${count(group.length, 'account')}${isQuiet ? '' : ', each'}`];
  const isCut = !verbose && group.some((each) => each.document.sections?.some(({ quiet }) => quiet));
  return {
    ...shared,
    title,
    accounts: group.length,
    headline: [...names, ...headline],
    facts: isCut ? [...facts, OWN_ENTRIES] : facts,
    completeBy: document.completeBy,
    // The first account is shown for those that failed in the same way.
    next: group[0].isProblem ? (document.next ?? []) : [],
  };
}

type Named = Pick<AccountDocument, 'account'>;

/** `; 2 blocked (a, b)`. */
export function problemAccounts(what: string, accounts: readonly Named[], verbose?: boolean): Line {
  if (accounts.length === 0) return [];
  return [`; ${accounts.length} ${what} (`, ...namesLine(accounts, verbose), ')'];
}

/** All names up to a number of them; of more, the first ones and the number of the rest, which HTML unfolds. */
function namesLine(accounts: readonly Named[], verbose = false): Line {
  const list = accounts.map(({ account }) => [code(account)]);
  return [{ list, most: verbose ? list.length : NAMED_ACCOUNTS }];
}
