// The manual in src/daemon/README.md against the code: it lists every metric, and each code that it names exists.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createMetrics } from '../../../src/daemon/metrics.ts';

const ROOT = new URL('../../../', import.meta.url);
const readme = readFileSync(new URL('src/daemon/README.md', ROOT), 'utf8');

/** What the section contains in backticks. */
function codeIn(section: string): string[] {
  const text = readme.split(/^(?=##+ )/m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => code);
}

test('the manual of the daemon lists every metric of rolecall', async () => {
  const names = [...(await createMetrics('1.0.0').text()).matchAll(/^# TYPE rolecall_(\w+) /gm)];
  const own = names.map(([, name = '']) => name).filter((name) => !/^(?:process|nodejs)_/.test(name));
  expect(own.length).toBeGreaterThan(20);
  expect(
    codeIn('## Metrics and alerts')
      .filter((name) => own.includes(name))
      .toSorted(),
  ).toEqual(own.toSorted());
});

test('the manual of the daemon names only statuses, errors and events that exist', () => {
  const source = execFileSync('git', ['grep', '--untracked', '-h', '-E', "'[a-z]+(_[a-z]+)+'", '--', 'src'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const sections = [
    '## Reload',
    '### Tokens and roles',
    '### TLS',
    '## Notifications',
    '## The log',
    '### Runs',
    '### The daemon',
  ];
  const named = sections.flatMap(codeIn).filter((code) => code.includes('_') && !code.endsWith('_total'));
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((code) => !source.includes(`'${code}'`))).toEqual([]);
});
