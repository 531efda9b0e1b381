// Names, ids and messages can contain anything; no report is damaged by them.
import { allowLine } from '../../../src/core/allowed-deletes.ts';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { html } from 'hono/html';
import { describe, expect, it } from 'vitest';
import { explainSuspectedRename } from '../../../src/core/held-texts.ts';
import { renderRuns } from '../../../src/report/list-reports.ts';
import { renderIssues } from '../../../src/report/check-reports.ts';
import { codeSpan, escapeProse } from '../../../src/report/markdown.ts';
import { Facts, Headline, SectionBody, Text } from '../../../src/report/html.tsx';
import { planDocument, renderPlans } from '../../../src/report/plan-report.ts';
import { renderRun, runDocument } from '../../../src/report/run-report.ts';
import { renderCoverage } from '../../../src/report/who-report.ts';
import { create, hold, makeOperation, makePlan, makeRun, MARKDOWN, remove, TEXT } from './samples.ts';
import type { RunDetail } from '../../../src/core/ports/journal-reader.ts';
import type { Plan } from '../../../src/core/plan.ts';
import type { ReportOptions } from '../../../src/report/document.ts';

const MARK_UP = [...'` | <b> @user ](http://x) * _ #1 \\ &lt; - ~~ $ a'.split(' '), ' '];
const INVISIBLE_TEXT = Array.from('\u001b\u009b\u202e\u2066\u200b\ufeff\n\r\t\u2028\0');

// Mark-up alone as well as mixed: a single control character makes the formats choose the safest form of a name.
const hostile = fc.oneof(
  fc.string({ unit: fc.constantFrom(...MARK_UP), maxLength: 6 }),
  fc.string({
    unit: fc.oneof(
      fc.constantFrom(...INVISIBLE_TEXT),
      fc.constantFrom(...MARK_UP),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
    maxLength: 12,
  }),
);

function hostilePlan(text: string): Plan {
  return makePlan({
    account: text,
    remoteAccountId: text,
    configCommit: text,
    operations: [{ ...create(text), reason: text }, remove(text, [text])],
    held: [
      hold(text, { remoteId: text, usedBy: [text], reason: text, release: text }),
      hold(text, {
        usedBy: [text],
        rules: ['rename'],
        ...explainSuspectedRename({ name: text, usedBy: [text], allow: text }, text),
        desiredName: text,
        allowance: allowLine({ kind: 'skill', name: text, expires: '2026-12-06' }),
      }),
    ],
    leftAlone: [{ kind: 'role', name: text, remoteId: text, rule: 'duplicate' }],
    warnings: [{ code: text, message: text, kind: 'skill', name: text, remoteId: text }],
  });
}

function hostileRun(text: string): RunDetail {
  const plan = hostilePlan(text);
  const run = makeRun({
    account: text,
    status: 'failed',
    errorCode: text,
    error: text,
    id: text,
    startedAt: text,
  });
  const operations = [makeOperation(1, text, { status: 'failed', rule: text, reason: text })];
  return { run, plan, warnings: plan.warnings, operations };
}

/** A plan and a run as HTML, with the text in every place that can contain text from outside. */
async function htmlReports(text: string): Promise<string> {
  const documents = [planDocument(hostilePlan(text)), runDocument(hostileRun(text))];
  const pages = documents.map(async (document) => {
    const { summary = [], facts = [], sections = [] } = document;
    const parts = [Headline({ document }), Text({ line: summary }), Facts({ facts })];
    return String(await html`${[...parts, ...sections.map((section) => SectionBody({ section }))]}`);
  });
  // The styles have line breaks of their own.
  const files = everyReport(text, { ...TEXT, format: 'html' }).replaceAll(
    /<style>.*?<\/style>|(?<=<!doctype html>|<\/html>)\n/gs,
    '',
  );
  return [...(await Promise.all(pages)), files].join('');
}

/** Every report, with the text in every place that can contain text from outside. */
function everyReport(text: string, format: ReportOptions): string {
  const options = { ...format, links: { publicUrl: 'https://r.io', commitsAt: 'https://github.com/a/b/' } };
  const plan = hostilePlan(text);
  const detail = hostileRun(text);
  return [
    renderPlans(
      [plan, { schemaVersion: 1, account: text, status: 'failed', error: { code: text, message: text } }],
      options,
    ),
    renderRun(detail, options),
    renderRuns([detail.run], options),
    renderCoverage(
      [
        {
          account: text,
          takenAt: text,
          entries: [{ kind: 'skill', name: text, remoteId: text, usedBy: [text] }],
          unknownReferences: [{ resourceId: text, kind: 'role', remoteId: text }],
        },
      ],
      options,
    ),
    renderIssues(
      [{ file: text, line: 1, column: 1, message: text, severity: 'error' }],
      { accounts: 1, catalogs: 0, names: 0 },
      [],
      options,
    ),
  ].join('');
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
// A joiner within an emoji is the one format character that is allowed.
const EMOJI_JOINER =
  /(?<=\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?)\u200d(?=\p{Extended_Pictographic})/gu;

describe('a hostile name', () => {
  it('adds no control character and no bidi override to text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(everyReport(text, TEXT).replaceAll('\n', '').replace(EMOJI_JOINER, '')).not.toMatch(INVISIBLE);
      }),
    );
  });

  it('adds no escape to coloured text beside the colours of the report', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const coloured = everyReport(text, { ...TEXT, colour: true });
        // eslint-disable-next-line no-control-regex -- the colours themselves are escapes
        const plain = coloured.replace(/\u001b\[\d{1,2}m/g, '');
        expect(plain.replaceAll('\n', '').replace(EMOJI_JOINER, '')).not.toMatch(INVISIBLE);
      }),
    );
  });

  it('adds no control character, table cell, HTML or mention to markdown', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const report = everyReport(text, MARKDOWN);
        expect(report.replaceAll('\n', '').replace(EMOJI_JOINER, '')).not.toMatch(INVISIBLE);
        // The page interprets the text outside of code spans and `<code>` elements.
        const live = report
          .replace(/^```yaml\nallowedDeletes:\n(?: {2}- .*\n)+```$/gm, '')
          .replace(/`[^`\n]*`/g, '')
          .replace(/<code>[^<\n]*<\/code>/g, '')
          .replace(/\]\(<https:\/\/(?:r\.io|github\.com\/a\/b)\/[^<>`|\\\s]*>\)/g, ']');
        expect(live).not.toMatch(/@|<(?!\/?(?:details|summary)>)|\]\(|`|~|\$/);
      }),
    );
  });

  it('adds no control character, element or attribute to HTML', async () => {
    // The lines of an error have a `div` each. The class of a short name differs, and a time is also an attribute.
    const tagsOf = (page: string) =>
      [...page.matchAll(/<(?!\/?div>)[^>]*>/g)].map(([tag]) =>
        tag.replace(/ (?:datetime|class|href)="(?!\s*\w*script:)[^"]*"/g, ''),
      );
    const harmless = tagsOf(await htmlReports('x'));
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const page = await htmlReports(`x${text}`);
        expect(page.replace(EMOJI_JOINER, '').replace(/\n(?= {2}- \{ kind: skill)/g, '')).not.toMatch(
          INVISIBLE,
        );
        expect(tagsOf(page)).toEqual(harmless);
      }),
    );
  });
});

describe('the escaping of markdown', () => {
  it('keeps plain names readable and writes hostile ones as entities within code', () => {
    expect(codeSpan('C++ & @bob <b>')).toBe('`C++ & @bob <b>`');
    expect(codeSpan('a|b')).toBe('<code>a&#124;b</code>');
    expect(codeSpan('`x`')).toBe('<code>&#96;x&#96;</code>');
    expect(codeSpan('a\nb')).toBe('<code>a&#92;u000ab</code>');
  });

  it('writes prose with a mention, a reference or a link as code', () => {
    expect(escapeProse('ask @bob')).toBe('<code>ask &#64;bob</code>');
    expect(escapeProse('see #12')).toBe('<code>see &#35;12</code>');
    expect(escapeProse('see https://x.io')).toBe('<code>see https&#58;&#47;&#47;x&#46;io</code>');
  });
});

it('a coloured report differs from the plain one only in its colours', () => {
  expect(stripVTControlCharacters(everyReport('Perl', { ...TEXT, colour: true }))).toBe(
    everyReport('Perl', TEXT),
  );
});
