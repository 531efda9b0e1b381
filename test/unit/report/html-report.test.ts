// Reports as HTML files: one self-contained document, readable on paper, with headings in order.
import { describe, expect, it } from 'vitest';
import type { ReportOptions } from '../../../src/report/document.ts';
import { renderRuns } from '../../../src/report/list-reports.ts';
import { renderPlans } from '../../../src/report/plan-report.ts';
import { renderRun } from '../../../src/report/run-report.ts';
import { create, makePlan, makeRun, MIXED, TEXT } from './samples.ts';
import type { PlanResult } from '../../../src/core/plan.ts';

const HTML: ReportOptions = { ...TEXT, format: 'html' };
const FAILED: PlanResult = {
  schemaVersion: 1,
  account: 'broken',
  status: 'failed',
  error: { code: 'unauthorized', message: 'the token is not accepted' },
};
const quiet = Array.from({ length: 9 }, (_, index) => makePlan({ account: `calm-${index}` }));

const REPORTS: Readonly<Record<string, string>> = {
  'of one plan': renderPlans([MIXED], HTML),
  'of several plans': renderPlans([...quiet, MIXED, FAILED], HTML),
  'of a run': renderRun({ run: makeRun(), plan: MIXED, operations: [], warnings: [] }, HTML),
  'of the history': renderRuns([makeRun()], HTML),
};

describe.each(Object.entries(REPORTS))('the HTML report %s', (_, html) => {
  it('is one document with a language, a title, one main and no script', () => {
    expect(html).toMatch(/^<!doctype html>\n<html lang="en"><head>.*<\/body><\/html>\n$/s);
    for (const once of ['<title>', '<main>', '<h1>']) expect(html.split(once)).toHaveLength(2);
    expect(html).not.toMatch(/<script|<link|<img|<iframe|\son\w+=/);
  });

  it('requests nothing and lets nothing run, whatever a name contains', () => {
    // The only addresses are those of its own headings.
    expect(html.match(/(?:href|src|action)="(?!#)[^"]*"|url\(|@import/g)).toBeNull();
    expect(html).toContain(
      'http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;',
    );
  });

  it('has headings whose levels never skip one', () => {
    const levels = [...html.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level));
    expect(levels[0]).toBe(1);
    for (const [index, level] of levels.entries())
      expect(level).toBeLessThanOrEqual((levels[index - 1] ?? 0) + 1);
  });

  it('unfolds everything on paper, where tables repeat their heads', () => {
    const [, print = ''] = html.split('@media print {');
    expect(print).toMatch(/thead \{ display: table-header-group; \}/);
    expect(print).toMatch(/details::details-content \{ content-visibility: visible;/);
    // On paper the colours are light, and rows are not broken into blocks as on a phone.
    expect(html).not.toMatch(/@media \((?:prefers-color-scheme|max-width)/);
  });
});

it('an account that failed has its code, its message and the next step in HTML', () => {
  const html = renderPlans([FAILED], HTML);
  expect(html).toContain('could not be planned (unauthorized)');
  expect(html).toContain('the token is not accepted');
  expect(html).toContain('Next: <code class="">rolecall doctor broken</code>');
});

it('a section of more than ten thousand rows is cut in HTML, and the rest is counted', () => {
  const operations = Array.from({ length: 10_001 }, (_, index) => create(`Skill ${index}`));
  const html = renderPlans([makePlan({ operations })], HTML);
  expect(html.match(/<td [^>]*data-head="Name"/g)).toHaveLength(10_000);
  expect(html).toContain('… and 1 more; <code class="nowrap">--verbose</code> shows all of them.');
  const all = renderPlans([makePlan({ operations })], { ...HTML, verbose: true });
  expect(all.match(/<td [^>]*data-head="Name"/g)).toHaveLength(10_001);
});
