// Long lists of a plan or a run on a page: sections, of which a long one is collapsed and a very long one shown in parts, and
// what rules hold.
import { firstFew, peopleHave } from '../../../core/amounts.ts';
import { releaseLines } from '../../../core/held-texts.ts';
import { type HeldChange, type Plan } from '../../../core/plan.ts';
import { HOLD_RULES, type HoldRule } from '../../../core/journal.ts';
import { holdersIn, type HoldersOf } from '../../../core/unknown-holders.ts';
import { countedTitle, type Section, shortened } from '../../../report/document.ts';
import { visible, visibleName } from '../../../report/escape-invisible.ts';
import { RULES } from '../../../core/hold-rules.ts';
import { count } from '../../../report/formatting.ts';
import { Code, SectionBody } from '../../../report/html.tsx';
import {
  HELD_GROUPS,
  heldIn,
  heldSections,
  leftAloneSection,
  warningSection,
} from '../../../report/plan-sections.ts';
import { affectedText, heldPeople } from '../../../report/plan-sentence.ts';
import { Card, Pager } from './page-parts.tsx';

/** A section of more rows is collapsed. */
const COLLAPSED_BEYOND = 50;
/** The rows of one section that one page shows. */
export const PAGE_ROWS = 500;
/** The held changes that one page shows. */
const HELD_PART = 200;

/** What a page shows of the changes. Parts are counted from 1. */
export type PagePlace = ReturnType<typeof placeIn>;

/** The place by the query of an address; the first one for anything that no link contains. */
export function placeIn(query: (name: string) => string | undefined) {
  const part = (text = ''): number => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1);
  const group = query('group') ?? '';
  return {
    /** The one section that it shows; null: all sections, each from its first row. */
    group: /^[a-z0-9-]{1,60}$/.test(group) ? group : null,
    /** The part of that section. */
    page: part(query('page')),
    /** The part of the held changes. */
    heldPart: part(query('held')),
  };
}

interface PagedSectionsProps {
  readonly sections: readonly Section[];
  /** The address of the page with all sections. */
  readonly at: string;
  readonly place: PagePlace;
}

/** What a plan deletes is shown, however much it is. */
export function PagedSections({ sections, at, place }: PagedSectionsProps) {
  const chosen = sections.filter(({ title }) => slugOf(title) === place.group);
  const isChosen = chosen.length > 0;
  return (
    <>
      {isChosen ? (
        <p>
          <a href={at}>Show all sections</a>
        </p>
      ) : null}
      {(isChosen ? chosen : sections).map((section) => {
        const rows = rowsOf(section);
        const isShort = rows <= COLLAPSED_BEYOND || /to delete|not deleted/i.test(section.title);
        const last = Math.max(1, Math.ceil(rows / PAGE_ROWS));
        return (
          <details id={slugOf(section.title)} open={isChosen || (isShort && section.quiet !== true)}>
            <summary>
              <h3>{countedTitle(section)}</h3>
            </summary>
            <SectionPart section={section} at={at} page={isChosen ? Math.min(place.page, last) : 1} />
          </details>
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

function SectionPart({ section, at, page }: PartProps) {
  const from = (page - 1) * PAGE_ROWS;
  const rows = rowsOf(section);
  const slug = slugOf(section.title);
  const link = (text: string, to: number) => [text, `${at}?group=${slug}&page=${to}#${slug}`] as const;
  const links = (
    <Pager
      label={`Parts of ${section.title}`}
      position={`${from + 1} to ${Math.min(from + PAGE_ROWS, rows)} of ${rows}`}
      previous={page > 1 ? link('Previous', page - 1) : null}
      next={from + PAGE_ROWS < rows ? link('Next', page + 1) : null}
    />
  );
  return (
    <>
      {links}
      <SectionBody section={{ ...section, ...shortened(section, PAGE_ROWS, PAGE_ROWS, from) }} />
      {links}
    </>
  );
}

function rowsOf({ groups }: Section): number {
  return groups.reduce((sum, { rows }) => sum + rows.length, 0);
}

/** The title as a part of an address. */
function slugOf(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

export interface ChangesProps {
  readonly plan: Plan;
  /** The address of the page with all of it. */
  readonly at: string;
  readonly place: PagePlace;
}

/** So many held changes are shown at once. The others unfold, so that they push nothing down. */
const HELD_SHOWN = 5;
/** So many people of a held change are named before it unfolds. */
const NAMED_PEOPLE = 3;

/** What rules hold, what most people have first. One part of a long list. */
export function HeldCard({ plan, at, place, file }: ChangesProps & { readonly file: string | undefined }) {
  const { held } = plan;
  if (held.length === 0) return null;
  const holders = holdersIn(plan);
  const hasDate = held.some(({ release }) => /\d UTC|24 hours/.test(release));
  // `in_use` is about the people of each change, which its row names.
  const isShared = (rule: HoldRule) => rule !== 'in_use' && held.every(({ rules }) => rules.includes(rule));
  const shared = held.length === 1 ? [] : HOLD_RULES.filter(isShared);
  const rows = (some: readonly HeldChange[]) =>
    HELD_GROUPS.map(({ group, title }) => {
      const ofGroup = heldIn(group, some);
      return ofGroup.length === 0 ? null : (
        <>
          <p class="quiet">{title}</p>
          {ofGroup.map((change) => (
            <HeldRow change={change} words={fewWords(change, holders, shared)} />
          ))}
        </>
      );
    });
  const last = Math.ceil(held.length / HELD_PART);
  const part = Math.min(place.heldPart, last);
  const from = (part - 1) * HELD_PART;
  const shown = held.toSorted((a, b) => b.usedBy.length - a.usedBy.length).slice(from, from + HELD_PART);
  const rest = shown.slice(HELD_SHOWN);
  const link = (text: string, to: number) => [text, `${at}?held=${to}#held`] as const;
  return (
    <Card
      id="held"
      title={`Held: ${count(held.length, 'change waits', 'changes wait')} for you${hasDate ? ', or for a date' : ''}`}
      aside={affectedText(peopleHave, heldPeople(plan))}
    >
      {shared.length === 0 ? null : (
        <p class="quiet">All of them: {shared.map((rule) => RULES[rule].text).join('; ')}.</p>
      )}
      {rows(shown.slice(0, HELD_SHOWN))}
      {rest.length === 0 ? null : (
        <details class="more" open={part > 1}>
          <summary>
            {rest.length} more: {affectedText(peopleHave, heldPeople({ ...plan, held: rest }))}
          </summary>
          {rows(rest)}
        </details>
      )}
      <Pager
        label="Parts of the held changes"
        position={`Held changes ${from + 1} to ${from + shown.length} of ${held.length}`}
        previous={part > 1 ? link('Previous', part - 1) : null}
        next={part < last ? link('Next', part + 1) : null}
      />
      {heldSections({ ...plan, held: shown }, file).map((section) =>
        section.verbatim === undefined ? null : (
          <details class="more">
            <summary>{section.title}</summary>
            <SectionBody section={section} />
          </details>
        ),
      )}
    </Card>
  );
}

/** One change, which unfolds to its complete reason and what releases it. */
function HeldRow({ change, words }: { readonly change: HeldChange; readonly words: string }) {
  const { action, kind, name, reason, release } = change;
  return (
    <details class="held">
      <summary>
        <span class="change warn">
          {action === 'create' ? '+' : '-'} {kind}
        </span>
        <Code text={name} />
        <span>{words}</span>
        <span class="quiet">what releases it</span>
      </summary>
      {[reason, ...releaseLines(release)].map((line) => (
        <p>{visible(line)}</p>
      ))}
    </details>
  );
}

/** `3 people have it: ada, grace, linus · the rename is not complete, or not declared · desired “JavaScript”`. */
function fewWords(change: HeldChange, holders: HoldersOf, shared: readonly HoldRule[]): string {
  const { action, usedBy, rules, desiredName } = change;
  const who = usedBy.length === 0 ? '' : `: ${firstFew(usedBy.map(visibleName), NAMED_PEOPLE)}`;
  const own = rules.filter((rule) => (rule !== 'in_use' || usedBy.length === 0) && !shared.includes(rule));
  const parts = [
    ...(action === 'create' ? [] : [`${peopleHave(holders(change)?.length ?? null)}${who}`]),
    ...own.map((rule) => RULES[rule].text),
    ...(desiredName === undefined ? [] : [`desired “${desiredName}”`]),
  ];
  return visible(parts.join(' · '));
}

/** Warnings, and what the policy leaves alone. */
export function Notes({ plan, at, place }: ChangesProps) {
  const sections = [...warningSection(plan.warnings), ...leftAloneSection(plan.leftAlone)];
  return sections.length === 0 ? null : (
    <Card title="Notes">
      <PagedSections sections={sections} at={at} place={place} />
    </Card>
  );
}
