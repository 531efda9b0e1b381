// Random stories of an account, its people, other editors and a service that misbehaves, played with the real client,
// store and use cases against the sandbox under a virtual clock. See script.ts for what a story is.
//
// ROLECALL_MODEL_RUNS: how many stories; ROLECALL_MODEL_SEED: which ones; ROLECALL_SCRIPT: a file with one story, to be
// played alone. A story that violated an invariant goes, as small as it could be made, into regressions/.
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Tally } from './play.ts';
import { play } from './play.ts';
import type { Script } from './script.ts';
import { scripts } from './scripts.ts';

const folder = new URL('regressions/', import.meta.url);
const alone = process.env['ROLECALL_SCRIPT'];
const numRuns = Number(process.env['ROLECALL_MODEL_RUNS'] ?? 60);
const seed = Number(process.env['ROLECALL_MODEL_SEED'] ?? 20_261_121);

function read(file: string | URL): Script {
  return JSON.parse(readFileSync(file, 'utf8')) as Script;
}

test.runIf(alone !== undefined)('the given story violates nothing', async () => {
  await play(read(alone ?? ''));
});

test.skipIf(alone !== undefined).each(readdirSync(folder).filter((file) => file.endsWith('.json')))(
  'the story that was found before violates nothing: %s',
  async (file) => {
    await play(read(new URL(file, folder)));
  },
);

test.skipIf(alone !== undefined)(
  'no story deletes wrongly, creates twice, loses a row or fails to converge',
  { timeout: numRuns * 5000 + 60_000 },
  async () => {
    const tally: Tally = new Map();
    const property = fc.asyncProperty(scripts, (script) => play(script, tally));
    const details = await fc.check(property, {
      numRuns,
      seed,
      interruptAfterTimeLimit: numRuns * 250 + 30_000,
    });
    if (numRuns > 100) console.log(Object.fromEntries([...tally].toSorted(([a], [b]) => (a < b ? -1 : 1))));
    expect(details.failed ? report(details.counterexample?.[0], details.errorInstance) : '').toBe('');
    expect(tally.get('operation delete done')).toBeGreaterThan(0);
    expect(tally.get('operation create done')).toBeGreaterThan(0);
  },
);

/** What was wrong, with the smallest story that shows it in a file, ready to be played alone or kept. */
function report(script: Script | undefined, error: unknown): string {
  const file = join(mkdtempSync(join(tmpdir(), 'rolecall-story-')), 'story.json');
  writeFileSync(file, `${JSON.stringify(script)}\n`);
  const replay = `ROLECALL_SCRIPT=${file} npm test -- test/model/reconcile`;
  return `${String(error)}\n\nplay it again: ${replay}\nkeep it: format it into test/model/reconcile/regressions/\n${JSON.stringify(script)}`;
}
