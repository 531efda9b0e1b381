// Several replicas that claim, end, die, reload and request turns in random order, on PostgreSQL and on a model.
//
// ROLECALL_MODEL_RUNS=2000 ROLECALL_MODEL_SEED=7 plays other scripts, ROLECALL_SCRIPT=file plays one alone.
import { describe, expect, it } from 'vitest';
import { hasPostgres } from '../../support/postgres.ts';
import { turnDatabase } from '../../support/turn-database.ts';
import { playCampaign, regressions, scriptToReplay } from '../campaign.ts';
import { type Figures, play } from './play.ts';
import { type Script, scripts } from './script.ts';

const LONGEST_MS = 3_600_000;
const alone = scriptToReplay();

describe.runIf(hasPostgres && alone !== null)('the script of ROLECALL_SCRIPT', () => {
  it(`${alone?.name ?? ''} shows no defect`, async () => play(alone?.script as Script, await turnDatabase()));
});

describe.runIf(hasPostgres && alone === null)('the turns of several replicas', () => {
  it.each(regressions(new URL('regressions/', import.meta.url)))(
    'have no defect in the regression script $name',
    async ({ script }) => play(script as Script, await turnDatabase()),
  );

  it(
    'are in the same state as the model after each step of all random scripts',
    async () => {
      const figures: Figures = {};
      const database = await turnDatabase();
      await playCampaign<Script>({
        testFile: import.meta.filename,
        scripts,
        play: (script) => play(script, database, figures),
        defaultRuns: 100,
        timeLimitMs: LONGEST_MS,
      });
      // Scripts in which nothing happens would prove nothing.
      for (const what of [
        'claims',
        'stale',
        'current',
        'declared dead',
        'changed while it ran',
        'newest',
        'older',
        'other files',
      ])
        expect(figures[what] ?? 0, what).toBeGreaterThan(0);
      if (process.env['ROLECALL_MODEL_RUNS'] !== undefined) console.log(JSON.stringify(figures, null, 1));
    },
    LONGEST_MS,
  );
});
