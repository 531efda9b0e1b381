// The daemon's scheduling and its operators, in random scripts on a virtual clock.
//
// ROLECALL_MODEL_RUNS=2000 ROLECALL_MODEL_SEED=7 plays other scripts, ROLECALL_SCRIPT=file plays one alone.
import { describe, expect, it } from 'vitest';
import { playCampaign, regressions, scriptToReplay } from '../campaign.ts';
import { scripts } from './arbitrary.ts';
import { play } from './play.ts';
import type { Figures } from './play.ts';
import type { Script } from './script.ts';

const LONGEST_MS = 6 * 3_600_000;
const alone = scriptToReplay();

describe.runIf(alone !== null)('the script of ROLECALL_SCRIPT', () => {
  it(`${alone?.name ?? ''} shows no defect`, () => play(alone?.script as Script), LONGEST_MS);
});

describe.runIf(alone === null)('the daemon', () => {
  it.each(regressions(new URL('regressions/', import.meta.url)))(
    'has no defect in the regression script $name',
    ({ script }) => play(script as Script),
  );

  it(
    'follows its files, its schedules and its operators in all random scripts',
    async () => {
      const figures: Figures = {};
      await playCampaign<Script>({
        testFile: import.meta.filename,
        scripts,
        play: (script) => play(script, figures),
        defaultRuns: 5,
        timeLimitMs: LONGEST_MS,
      });
      // Scripts in which nothing happens would prove nothing.
      expect(figures['runs'] ?? 0).toBeGreaterThan(5 * (figures['scripts'] ?? 0));
      if (process.env['ROLECALL_MODEL_RUNS'] !== undefined) console.log(JSON.stringify(figures, null, 1));
    },
    LONGEST_MS,
  );
});
