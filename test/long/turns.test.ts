// More of the random stories of several replicas than every `npm test` plays.
import { describe, it } from 'vitest';
import { playCampaign } from '../model/campaign.ts';
import { play } from '../model/turns/play.ts';
import { type Script, scripts } from '../model/turns/script.ts';
import { hasPostgres } from '../support/postgres.ts';
import { turnDatabase } from '../support/turn-database.ts';

const LONGEST_MS = 1_800_000;

describe.skipIf(!hasPostgres)('the turns of several replicas', () => {
  it(
    'are in the same state as the model after each step of five hundred scripts',
    async () => {
      const database = await turnDatabase();
      await playCampaign<Script>({
        testFile: new URL('../model/turns/turns.test.ts', import.meta.url).pathname,
        scripts,
        play: (script) => play(script, database),
        defaultRuns: 500,
        timeLimitMs: LONGEST_MS,
      });
    },
    LONGEST_MS,
  );
});
