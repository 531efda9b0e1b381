// The gauges of accounts that several replicas run.
import { expect, it, onTestFinished } from 'vitest';
import type { AccountBrief } from '../../../src/core/journal-reader.ts';
import { outcomeOf } from '../../../src/core/run-outcome.ts';
import { createMetrics } from '../../../src/daemon/metrics.ts';
import { createSharedGauges } from '../../../src/daemon/shared-gauges.ts';
import { sha256 } from '../core/builders.ts';
import { runDetail } from '../core/run-details.ts';
import { virtualClock } from './virtual-clock.ts';
import { joined } from '../../support/pieces.ts';

type LastRun = NonNullable<AccountBrief['lastRun']>;

function setUp() {
  const clock = virtualClock(0);
  const metrics = createMetrics('test');
  const outcome = outcomeOf(runDetail(1, { account: 'a', toCreate: ['Go'], held: ['Perl'] }), null, sha256);
  metrics.run(outcome, new Map(), 1);
  const own: LastRun = {
    id: outcome.run.id,
    trigger: 'schedule',
    mode: 'apply',
    status: 'held',
    startedAt: outcome.run.startedAt,
    planDigest: 'sha256:1',
    held: 1,
  };
  const brief: AccountBrief = {
    name: 'a',
    pause: null,
    pending: null,
    approval: null,
    lastRun: own,
    lastSuccessAt: null,
    remaining: null,
  };
  const stored = { briefs: [brief] };
  const gauges = createSharedGauges({
    registry: { names: () => new Set(['a']) },
    reader: { accountBriefs: async () => stored.briefs },
    metrics,
    clock,
  });
  gauges.start();
  onTestFinished(() => gauges.stop());
  const lines = async (): Promise<string> =>
    (await joined(metrics.text()))
      .split('\n')
      .filter((line) => /^rolecall_(drift|held|entries|paused|approval_pending|last_success)\w*{/.test(line))
      .join('\n');
  const store = async (parts: Partial<AccountBrief>): Promise<string> => {
    stored.briefs = [{ ...brief, ...parts }];
    await clock.pass(15_000);
    return await lines();
  };
  return { store, own };
}

it('the results of a run are dropped when another run of a daemon or an apply has planned later, and not before', async () => {
  const { store, own } = setUp();
  const kept = [
    await store({}),
    await store({ lastRun: { ...own, id: 'other', status: 'running', planDigest: null } }),
    await store({ lastRun: { ...own, id: 'other', status: 'failed', planDigest: null } }),
    await store({ lastRun: { ...own, id: 'other', status: 'planned', trigger: 'cli', mode: 'plan' } }),
  ];
  for (const text of kept) {
    expect(text).toMatch(/rolecall_drift\{account="a",kind="skill",action="create"\} 1/);
    expect(text).toMatch(/rolecall_held\{account="a"/);
  }
  const applied: LastRun = { ...own, id: 'other', trigger: 'cli' };
  expect(await store({ lastRun: applied })).not.toMatch(/rolecall_(drift|held|entries)/);
});

it('pauses, pending plans and successes are those of the store, whichever replica wrote them', async () => {
  const { store } = setUp();
  const pending = { digest: 'sha256:2', runId: 'r', sinceMs: 0 };
  const pause = { sinceMs: 0, by: 'ada', reason: null };
  const paused = await store({ pause, pending, lastSuccessAt: '1970-01-01T00:01:00.000Z' });
  expect(paused).toContain('rolecall_paused{account="a"} 1');
  expect(paused).toContain('rolecall_approval_pending{account="a",digest="sha256:2"} 1');
  expect(paused).toContain('rolecall_last_success_timestamp_seconds{account="a"} 60');
  const resumed = await store({});
  expect(resumed).toContain('rolecall_paused{account="a"} 0');
  expect(resumed).not.toContain('approval_pending');
});
