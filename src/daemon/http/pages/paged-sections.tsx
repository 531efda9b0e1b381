// The sections of a plan or a run on a page: a long one is collapsed, and a very long one is shown in parts.
import { countedTitle, type Group, type Section, shortened } from '../../../report/document.ts';
import { SectionBody } from '../../../report/html.tsx';
import type { Plan } from '../../../core/plan.ts';
import { HELD_PART } from '../../../core/ports/journal-reader.ts';
import { Pager } from './page-parts.tsx';

/** A section of more rows is collapsed. */
const COLLAPSED_BEYOND = 50;
/** The rows of one section that one page shows. */
export const PAGE_ROWS = 500;

/** What a page shows of the changes. Parts are counted from 1. */
export interface PagePlace {
  /** The one section that it shows; null: all sections, each from its first row. */
  readonly group: string | null;
  /** The part of that section. */
  readonly page: number;
  /** The part of the held changes that is read. */
  readonly heldPart: number;
}

/** The held changes of a plan, of which one part was read. */
interface HeldChanges {
  readonly shown: number;
  readonly total: number;
}

export function heldOf(plan: Plan | null): HeldChanges {
  return { shown: plan?.held.length ?? 0, total: plan?.summary.hold ?? 0 };
}

interface PagedSectionsProps {
  readonly sections: readonly Section[];
  /** The address of the page with all sections. */
  readonly at: string;
  readonly place: PagePlace;
  readonly held: HeldChanges;
  /** The titles of sections that are never collapsed. */
  readonly open?: readonly string[];
}

/** The place by the query of an address; the first one for anything that no link contains. */
export function placeIn(query: (name: string) => string | undefined): PagePlace {
  const part = (text = ''): number => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1);
  const group = query('group') ?? '';
  return {
    group: /^[a-z0-9-]{1,60}$/.test(group) ? group : null,
    page: part(query('page')),
    heldPart: part(query('held')),
  };
}

export function PagedSections({ sections: all, at, place, held, open = [] }: PagedSectionsProps) {
  const isCut = held.shown < held.total;
  const sections = all.map((section) =>
    isCut && isAboutHeld(section) ? { ...section, count: held.total } : section,
  );
  const chosen = sections.find(({ title }) => slugOf(title) === place.group);
  if (chosen !== undefined) return <OneSection section={chosen} at={at} page={place.page} />;
  return (
    <>
      {isCut ? <HeldPager at={at} heldPart={place.heldPart} total={held.total} /> : null}
      {sections.map((section) => {
        const isOpen = open.includes(section.title) || rowsOf(section) <= COLLAPSED_BEYOND;
        return section.quiet || !isOpen ? (
          <details id={slugOf(section.title)}>
            <summary>
              <h2>{countedTitle(section)}</h2>
            </summary>
            <SectionPart section={section} at={at} page={1} />
          </details>
        ) : (
          <section id={slugOf(section.title)}>
            <h2>{countedTitle(section)}</h2>
            <SectionPart section={section} at={at} page={1} />
          </section>
        );
      })}
    </>
  );
}

interface HeldPagerProps {
  readonly at: string;
  readonly heldPart: number;
  readonly total: number;
}

function HeldPager({ at, heldPart, total }: HeldPagerProps) {
  const last = Math.ceil(total / HELD_PART);
  const part = Math.min(heldPart, last);
  const link = (to: number, text: string) => ({ href: `${at}?held=${to}`, text });
  return (
    <Pager
      label="Parts of the held changes"
      position={`Held changes ${(part - 1) * HELD_PART + 1} to ${Math.min(part * HELD_PART, total)} of ${total}`}
      previous={part > 1 ? link(part - 1, 'Previous') : null}
      next={part < last ? link(part + 1, 'Next') : null}
    />
  );
}

/** The section of what the plan holds, also where it is not part of an approval. */
function isAboutHeld({ title }: Section): boolean {
  return /(^|: )held$/i.test(title);
}

interface PartProps {
  readonly section: Section;
  readonly at: string;
  readonly page: number;
}

function OneSection({ section, at, page }: PartProps) {
  const last = Math.max(1, Math.ceil(rowsOf(section) / PAGE_ROWS));
  return (
    <section id={slugOf(section.title)}>
      <h2>{countedTitle(section)}</h2>
      <p>
        <a href={at}>Show all sections</a>
      </p>
      <SectionPart section={section} at={at} page={Math.min(page, last)} />
    </section>
  );
}

function SectionPart({ section, at, page }: PartProps) {
  const from = (page - 1) * PAGE_ROWS;
  const { verbatim } = shortened(section, PAGE_ROWS);
  const part = { ...section, verbatim, groups: rowsBetween(section.groups, from, from + PAGE_ROWS) };
  return (
    <>
      <PartLinks section={section} at={at} page={page} />
      <SectionBody section={part} />
      <PartLinks section={section} at={at} page={page} />
    </>
  );
}

function PartLinks({ section, at, page }: PartProps) {
  const rows = rowsOf(section);
  const slug = slugOf(section.title);
  const link = (to: number, text: string) => ({ href: `${at}?group=${slug}&page=${to}#${slug}`, text });
  return (
    <Pager
      label={`Parts of ${section.title}`}
      position={`${(page - 1) * PAGE_ROWS + 1} to ${Math.min(page * PAGE_ROWS, rows)} of ${rows}`}
      previous={page > 1 ? link(page - 1, 'Previous') : null}
      next={page * PAGE_ROWS < rows ? link(page + 1, 'Next') : null}
    />
  );
}

/** The groups with only the rows of a part. A group without rows in it is left out. */
function rowsBetween(groups: readonly Group[], from: number, to: number): Group[] {
  const kept: Group[] = [];
  let before = 0;
  for (const group of groups) {
    const [first, end] = [Math.max(0, from - before), Math.max(0, to - before)];
    const rows = group.rows.slice(first, end);
    before += group.rows.length;
    if (rows.length > 0) kept.push({ ...group, rows });
  }
  return kept;
}

function rowsOf({ groups }: Section): number {
  return groups.reduce((sum, { rows }) => sum + rows.length, 0);
}

/** The title as a part of an address. */
function slugOf(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}
