// Random stories of an account, its people, other editors and a service that fails, played with the real client, store
// and use cases against the sandbox under a virtual clock. script.ts describes a story, and campaign.ts how many are
// played. The shrunk form of a story that violated an invariant is added to regressions/.
import { expect, test } from 'vitest';
import { playCampaign, regressions, runsOf, scriptToReplay } from '../campaign.ts';
import type { Tally } from './play.ts';
import { play } from './play.ts';
import { ENGINE } from '../../unit/store/fixture.ts';
import type { Script } from './script.ts';
import { scripts } from './scripts.ts';

const DEFAULT_RUNS = ENGINE === 'sqlite' ? 14 : 2;
const RUNS = runsOf(DEFAULT_RUNS);
const alone = scriptToReplay();

test.runIf(alone !== null)('the story of ROLECALL_SCRIPT violates no invariant', () =>
  play(alone?.script as Script),
);

// The regressions are about the rules, which are the same whatever the engine; on PostgreSQL they would take 20 seconds.
test
  .skipIf(alone !== null || ENGINE === 'postgres')
  .each(regressions(new URL('regressions/', import.meta.url)))(
  'the regression story $name violates no invariant',
  ({ script }) => play(script as Script),
);

test.skipIf(alone !== null)(
  'no random story deletes a wrong entry, creates a duplicate, loses a row or fails to converge',
  { timeout: RUNS * 5000 + 60_000 },
  async () => {
    const tally: Tally = new Map();
    await playCampaign<Script>({
      testFile: import.meta.filename,
      scripts,
      play: (script) => play(script, tally),
      defaultRuns: DEFAULT_RUNS,
      // A story that is interrupted goes on beside the tests after it.
      timeLimitMs: RUNS * (ENGINE === 'sqlite' ? 250 : 4000) + 30_000,
    });
    if (RUNS > 100) console.log(Object.fromEntries([...tally].toSorted(([a], [b]) => (a < b ? -1 : 1))));
    expect(tally.get('stories')).toBeGreaterThan(0);
    // A few stories may all want nothing.
    if (RUNS < 20) return;
    expect(tally.get('operation delete done')).toBeGreaterThan(0);
    expect(tally.get('operation create done')).toBeGreaterThan(0);
  },
);
