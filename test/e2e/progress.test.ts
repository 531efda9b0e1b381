// What a command shows on stderr while it works: a line that is rewritten on a terminal, lines elsewhere, and never anything on stdout.
import { expect, test } from 'vitest';
import { arrayOf, type RunJson, scene, TOKEN, tokenVariable } from '../support/scene.ts';
import { hasTerminal, onTerminal } from '../support/terminal.ts';

const names = Array.from({ length: 40 }, (_, index) => `Skill ${index + 1}`);
const MANY = `skills: [Kept, ${names.join(', ')}]`;
const slowCreates = { match: { method: 'POST' }, times: 'always', do: { type: 'latency', ms: 250 } } as const;
/** About 20 creates a second, so that the run takes longer than two seconds. */
const SLOW = { requestsPerSecond: 16, timeout: '20s', settle: '21s' };
const env = { [tokenVariable('acme')]: TOKEN };

test('without a terminal a slow apply shows lines without escape codes on stderr, and only data on stdout', async () => {
  const s = await scene({ skills: ['Kept'], file: MANY, api: SLOW, faults: [slowCreates] });
  const result = await s.run(['apply', '--yes', '--format', 'json'], { keepsProgress: true });
  expect(arrayOf<RunJson>(result)).toMatchObject([{ status: 'converged', created: 40 }]);
  expect(result.stderr).toMatch(/^acme: /m);
  for (const code of ['\u001B', '\r']) expect(result.stderr).not.toContain(code);
});

test.skipIf(!hasTerminal)(
  'on a terminal the progress of a slow apply is gone before the report, which is complete',
  async () => {
    const s = await scene({ skills: ['Kept'], file: MANY, api: SLOW, faults: [slowCreates] });
    const { status, output } = await onTerminal(s.folder, ['apply', '--yes'], { env });
    expect(status).toBe(0);
    // Every line of progress is erased before the next text; nothing of the report is on a line with it.
    // eslint-disable-next-line no-control-regex
    const shown = output.replaceAll(/\u001B\[\?7l.*?\u001B\[\?7h\r\u001B\[K/g, '');
    expect(output).toContain(' of 40 operations, ');
    expect(shown).not.toContain(' of 40 operations');
    // Nothing of the report was overwritten.
    expect(shown.match(/40 (?:to create|created)/g)?.length).toBeGreaterThan(1);
    // In the plan, and in what was created.
    expect(shown.match(/Skill 1\b/g)).toHaveLength(2);
  },
);
