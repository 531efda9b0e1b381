// Reports as HTML files: one self-contained document, readable on paper, with headings in order.
import { describe, expect, it } from 'vitest';
import type { ReportOptions } from '../../../src/report/document.ts';
import { renderRuns } from '../../../src/report/list-reports.ts';
import { renderPlans } from '../../../src/report/plan-report.ts';
import { renderRun } from '../../../src/report/run-report.ts';
import { create, makePlan, makeRun, MIXED, remove, TEXT } from './samples.ts';
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
  expect(html).toContain('Next: <code class="">rolecall validate --online broken</code>');
});

it('no row of a section is left out in HTML', () => {
  const operations = Array.from({ length: 10_001 }, (_, index) => create(`Skill ${index}`));
  const html = renderPlans([makePlan({ operations })], HTML);
  expect(html.match(/<td [^>]*data-head="Name"/g)).toHaveLength(10_001);
});

it('the HTML report of a plan unfolds its long lists, but shows first what people lose, and names everybody', () => {
  const some = (length: number, what: string) => Array.from({ length }, (_, index) => `${what}-${index}`);
  const operations = [
    remove('Perl', some(15, 'res')),
    ...some(40, 'Lost').map((name) => remove(name, ['res-1'])),
    ...some(40, 'Unused').map((name) => remove(name)),
    ...some(40, 'New').map((name) => create(name)),
  ];
  const plans = some(40, 'acct').map((account) => makePlan({ account, operations: [create('Go')] }));
  const html = renderPlans([makePlan({ operations }), ...plans], HTML);
  const folded = [...html.matchAll(/<summary>(?:<h3>)?([^<]*)/g)].map(([, title]) => title);
  expect(folded.filter((title) => title?.includes('more'))).toEqual([
    ' … and 5 more',
    '28 more',
    '28 more',
    ' … and 28 more',
  ]);
  const shown = html.replaceAll(/<details( class="rest")?><summary>[^<]*more.*?<\/details>/gs, '');
  expect(shown.match(/3 people|1 person loses it/g)).toHaveLength(40);
  for (const name of ['Lost-39', 'res-9', 'acct-11']) expect(shown).toContain(`>${name}<`);
  for (const name of ['Unused-39', 'New-39', 'acct-39', 'res-14']) {
    expect(shown).not.toContain(`>${name}<`);
    expect(html).toContain(`>${name}<`);
  }
});

it('the HTML report of a run shows first what people lost', () => {
  const names = [...Array.from({ length: 20 }, (_, index) => `A${index}`), 'Perl'];
  const plan = makePlan({ operations: names.map((name) => remove(name, name === 'Perl' ? ['res-1'] : [])) });
  const operations = plan.operations.map(({ kind, action, name, remoteId = null }, index) => {
    const times = { startedAt: null, finishedAt: null };
    const result = { status: 'done', attempts: 1, httpStatus: 200, rule: null, reason: null } as const;
    return { runId: '', seq: index + 1, kind, action, name, remoteId, ...result, ...times };
  });
  const html = renderRun({ run: makeRun(), plan, operations, warnings: [] }, HTML);
  expect(html.indexOf('>Perl<')).toBeLessThan(html.indexOf('>A0<'));
});
