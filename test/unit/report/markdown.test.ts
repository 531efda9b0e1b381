// Markdown reports, rendered as GitHub and GitLab render them: complete tables, honest counts, nothing injected.
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { describe, expect, it } from 'vitest';
import type { PlanResult } from '../../../src/core/plan.ts';
import { renderPlans } from '../../../src/report/plan-report.ts';
import { renderRunReports } from '../../../src/report/run-report.ts';
import { create, hold, makeOperation, makePlan, makeRun, MARKDOWN, remove, resourceIds } from './samples.ts';

/** The longest comment that GitHub accepts. */
const COMMENT = 65_536;
/** The elements that a report consists of. */
const OURS = 'code details em h2 h3 h4 li p pre strong summary table tbody td th thead tr ul'.split(' ');

const HOSTILE = [
  'a|b',
  '`tick` ``two``',
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '</details></summary></code>',
  '@octocat and @org/team',
  '[link](https://evil.example) ![image](https://evil.example/x.png)',
  'https://evil.example www.evil.example someone@evil.example',
  'two\nlines\r\n\n# heading\n\n| a | b |\n|---|---|',
  '#12 GH-12 !12 &12 %12 ~label org/repo#1',
  '- [x] item',
  '\\|\\`\\<b>',
  '[^1]: note',
  '***~~all~~*** _of_ $it$ :smile:',
  `${'long'.repeat(50)}|`,
  '&lt;b&gt; &#60;i&#62; &copy;',
];

const hostileName = (index: number): string => `${HOSTILE[index % HOSTILE.length] ?? ''} ${index}`;

function render(markdown: string): string {
  return micromark(markdown, {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
}

function elementsOf(html: string): string[] {
  return [...new Set([...html.matchAll(/<\/?([a-z][\w-]*)/gi)].map(([, name]) => name ?? ''))].sort();
}

/** The number of cells of each row of each table. */
function cellCounts(html: string): number[][] {
  return [...html.matchAll(/<table>.*?<\/table>/gs)].map(([table]) =>
    [...table.matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) => row.match(/<t[hd][ >]/g)?.length ?? 0),
  );
}

/** The count in the title of each section, the rows that it shows, and the rows that it reports as omitted. */
function sectionsOf(html: string): { title: string; counted: number; shown: number; omitted: number }[] {
  return html
    .split(/<(?:h[234]|summary)>/)
    .slice(1)
    .flatMap((part) => {
      const [, title = '', counted] = /^(.*?) \((\d+)\)<\//.exec(part) ?? [];
      if (counted === undefined) return [];
      const bodies = [...part.matchAll(/<tbody>.*?<\/tbody>/gs)].map(([body]) => body).join('');
      const omitted = [...part.matchAll(/(\d+) (?:more|rows) omitted \(length limit\)/g)];
      return [
        {
          title,
          counted: Number(counted),
          shown: bodies.match(/<tr>/g)?.length ?? 0,
          omitted: omitted.reduce((sum, [, amount]) => sum + Number(amount), 0),
        },
      ];
    });
}

function expectWhole(markdown: string): string {
  expect(markdown.length).toBeLessThanOrEqual(COMMENT);
  const html = render(markdown);
  expect(elementsOf(html).filter((name) => !OURS.includes(name))).toEqual([]);
  // An attribute other than the alignment of a cell would be one that a name brought along.
  expect(html.match(/<[a-z]+ (?!align="(?:left|right)">|class="language-yaml">)[^>]*>/g)).toBeNull();
  for (const rows of cellCounts(html)) expect([...new Set(rows)]).toHaveLength(1);
  expect(html.match(/<details>/g)?.length).toBe(html.match(/<\/details>/g)?.length);
  return html;
}

const operations = [
  ...Array.from({ length: 8000 }, (_, index) =>
    create(index % 9 === 0 ? hostileName(index) : `Skill ${index}`),
  ),
  ...Array.from({ length: 1000 }, (_, index) => ({
    ...remove(hostileName(index), index % 3 === 0 ? resourceIds(12) : []),
    remoteId: `d${index}`,
  })),
];
const big = makePlan({
  operations,
  held: HOSTILE.map((name) => hold(name, { reason: name, release: name, usedBy: [name] })),
});

describe('nine thousand operations in markdown', () => {
  it.each([
    ['a plan', () => renderPlans([big], MARKDOWN)],
    [
      'a run',
      () => {
        const rows = operations.map(({ name, action, remoteId = null }, index) =>
          makeOperation(index + 1, name, {
            action,
            remoteId,
            ...(index % 50 === 0 ? { status: 'failed', reason: name } : {}),
          }),
        );
        const run = makeRun({
          status: 'partial',
          created: 7840,
          deleted: 980,
          failed: 180,
          held: HOSTILE.length,
        });
        return renderRunReports([{ run, plan: big, operations: rows, warnings: [] }], MARKDOWN);
      },
    ],
  ])('are cut by complete rows in the report of %s, and the counts add up', (_, report) => {
    const sections = sectionsOf(expectWhole(report()));
    const counted = sections.filter(({ title }) => title !== 'Left alone' && title !== 'Warnings');
    expect(counted.reduce((sum, section) => sum + section.counted, 0)).toBeGreaterThanOrEqual(9000);
    for (const { title, shown, omitted, counted: total } of counted) {
      expect([title, shown + omitted]).toEqual([title, total]);
      expect([title, shown]).not.toEqual([title, 0]);
    }
  });
});

describe('several accounts in markdown', () => {
  const quiet = (account: string) => makePlan({ account });
  const failed = (account: string, index: number): PlanResult => ({
    schemaVersion: 1,
    account,
    status: 'failed',
    error: { code: 'unauthorized', message: `the token is not accepted; fix it: ${hostileName(index)}` },
  });
  const many = <T>(amount: number, make: (index: number) => T): T[] =>
    Array.from({ length: amount }, (_, index) => make(index));

  it('show each failed one, with its code, its message and the next step, however many others there are', () => {
    const plans = [
      ...many(150, (i) => quiet(`quiet-${i}`)),
      ...many(1000, (i) => makePlan({ account: `changed-${i}`, operations: [remove('Go', ['r1'])] })),
      failed('broken-eu', 4),
      failed('broken-us', 5),
    ];
    const markdown = renderPlans(plans, MARKDOWN);
    expectWhole(markdown);
    const titles = markdown.match(/^### .*$/gm) ?? [];
    expect(titles.filter((title) => title.includes('broken'))).toEqual([
      '### `broken-eu`: could not be planned (unauthorized)',
      '### `broken-us`: could not be planned (unauthorized)',
    ]);
    expect(titles[0]).toContain('1 to delete (1 person loses it)');
    expect(markdown.match(/the token is not accepted/g)).toHaveLength(2);
    expect(markdown).toContain('Next: `rolecall validate --online broken-us`');
    const lines = markdown.match(/^- `changed-\d+`: 0 to create, 1 to delete \(1 person loses it\)/gm) ?? [];
    expect(titles.at(-1)).toBe('### 150 accounts: nothing to do');
    const left = 1002 - (titles.length - 1) - lines.length;
    expect(markdown).toContain(`_… and ${left} more, and rows, omitted (length limit)`);
  });

  it('have complete rows for those that matter most, and a line for each other one', () => {
    const plans = many(60, (i) =>
      makePlan({
        account: `team-${i}`,
        operations: many(10 + i, (n) => remove(`Skill ${n}`, i < 20 ? ['r1'] : [])),
      }),
    );
    const markdown = renderPlans(plans, MARKDOWN);
    for (const { shown } of sectionsOf(expectWhole(markdown))) expect(shown).toBeGreaterThan(0);
    const titles = markdown.match(/^### `team-\d+`/gm) ?? [];
    const lines = markdown.match(/^- `team-\d+`: 0 to create, \d+ to delete/gm) ?? [];
    expect([titles.length >= 20, titles.length + lines.length]).toEqual([true, 60]);
    expect(titles.slice(0, 20).every((title) => Number(title.match(/\d+/)) < 20)).toBe(true);
    expect(markdown).toContain('_Their rows are omitted (length limit)');
  });
});
