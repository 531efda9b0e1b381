// Charts as SVG: the scale, the steps of a line with gaps, and the description for those who cannot see it.
import { html } from 'hono/html';
import { expect, it } from 'vitest';
import {
  type Chart,
  descriptionOf,
  LineChart,
  scaleOf,
  stepsOf,
} from '../../../../src/daemon/http/pages/line-chart.tsx';

function chart(values: readonly (number | null)[], parts: Partial<Chart> = {}): Chart {
  return {
    title: 'Entries',
    timesMs: values.map((_, index) => index * 1000),
    series: [{ label: 'skills', values }],
    ...parts,
  };
}

function pathOf(values: readonly (number | null)[], parts: Partial<Chart> = {}): string {
  const drawn = chart(values, parts);
  const scale = scaleOf(drawn);
  if (scale === null) throw new Error('nothing is drawn');
  return stepsOf(drawn.timesMs, values, scale);
}

it('a line goes from the left to the right edge, and a higher number is higher', () => {
  expect(pathOf([0, 10, 5])).toBe('M60 102H186V8H312V55');
});

it('a line is interrupted where a number is not known', () => {
  expect(pathOf([10, null, 10])).toBe('M60 8H186M312 8');
  expect(pathOf([null, null, 10, 10])).toMatch(/^M228 8H312V8$/);
});

it('equal numbers and a single one are drawn, without a division by zero', () => {
  expect(pathOf([0, 0])).toBe('M60 102H312V102');
  expect(pathOf([7])).toBe('M312 8');
});

it('the scale begins at zero', () => {
  expect(scaleOf(chart([90, 100]))).toMatchObject({ low: 0, high: 100 });
  expect(scaleOf(chart([null, null]))).toBeNull();
});

it('times of different distance are drawn at their places', () => {
  expect(pathOf([0, 0, 0], { timesMs: [0, 9000, 10_000] })).toBe('M60 102H286.8V102H312V102');
});

it('the description names the last, the lowest and the highest number, and what is not known', () => {
  const series = [
    { label: 'skills', values: [3, 9, null, 4] },
    { label: 'roles', values: [null, null, null, null] },
  ];
  expect(descriptionOf(chart([], { series }))).toBe(
    'skills: 4 in the last run, between 3 and 9 in 3 runs. roles: not known.',
  );
});

it('the image has a title and a description, and needs no style of its own', async () => {
  const image = LineChart({ chart: chart([1, 2], { title: '<b>&' }), id: 'c' });
  const text = String(await html`${image}`);
  expect(text).toMatch(/<svg[^>]* role="img" aria-labelledby="c-title" aria-describedby="c-text">/);
  expect(text).toContain('<title id="c-title">&lt;b&gt;&amp;</title><desc id="c-text">skills: 2');
  expect(text).not.toContain('style');
});

it('the dot of a line is at its end, and a line that ends before the chart has none', async () => {
  const dots = async (...series: (readonly (number | null)[])[]): Promise<(string | undefined)[]> => {
    const drawn = chart([0, 1, 2], { series: series.map((values) => ({ label: 'skills', values })) });
    const text = String(await html`${LineChart({ chart: drawn, id: 'c' })}`);
    return [...text.matchAll(/class="dot line-\d" d="([^"]*)"/g)].map(([, path]) => path);
  };
  // A run in progress, and one that failed, have no numbers yet.
  expect(await dots([0, 4, 2], [0, 4, null], [null, null, null])).toEqual(['M312 55h0', '', '']);
});
