// The sections of a plan or a run on a page: a long one is collapsed, and a very long one is shown in parts.
import { countedTitle, type Group, type Section, shortened } from '../../../report/document.ts';
import { SectionBody } from '../../../report/html.tsx';
import { Pager } from './page-parts.tsx';

/** A section of more rows is collapsed. */
const COLLAPSED_BEYOND = 50;
/** The rows of one section that one page shows. */
export const PAGE_ROWS = 500;

/** The one section that a page shows, and which part of it, from 1. */
export interface SectionPlace {
  readonly group: string;
  readonly page: number;
}

interface PagedSectionsProps {
  readonly sections: readonly Section[];
  /** The address of the page with all sections. */
  readonly at: string;
  /** null: all sections, each from its first row. */
  readonly place: SectionPlace | null;
  /** The titles of sections that are never collapsed. */
  readonly open?: readonly string[];
}

/** Where in its sections a page begins, from the query of its address; null for anything that no link contains. */
export function placeIn(group: string | undefined, page: string | undefined): SectionPlace | null {
  if (group === undefined || !/^[a-z0-9-]{1,60}$/.test(group)) return null;
  return { group, page: page !== undefined && /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1 };
}

export function PagedSections({ sections, at, place, open = [] }: PagedSectionsProps) {
  const chosen = place === null ? undefined : sections.find(({ title }) => slugOf(title) === place.group);
  if (place !== null && chosen !== undefined) {
    return <OneSection section={chosen} at={at} page={place.page} />;
  }
  return (
    <>
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
