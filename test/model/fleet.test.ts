// Random stories of a fleet: commits, failures, approvals, pauses of all accounts and time, played with the real client, store
// and runs against the sandbox. What reaches the service is judged by what an operator decided, not by the rules of the code.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunMode } from '../../src/core/journal.ts';
import { globMatcher } from '../../src/core/names.ts';
import type { AccountSettings } from '../../src/core/settings.ts';
import { Secret } from '../../src/core/secret.ts';
import { settingsDigest } from '../../src/run/changes-during-run.ts';
import { reconcileLeased } from '../../src/run/reconcile.ts';
import type { ApplyDeps } from '../../src/run/request.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { createConnections } from '../../src/service/connections.ts';
import { UNLIMITED, wanted } from '../unit/core/builders.ts';
import { API } from '../unit/run/api.ts';
import { QuickClock } from '../unit/run/quick-clock.ts';
import { accountAt } from '../unit/service/account-at.ts';
import { sqliteFixture } from '../unit/store/fixture.ts';
import { playCampaign, runsOf } from './campaign.ts';

const MINUTE_MS = 60_000;
const WAIT_MS = 10 * MINUTE_MS;
const NAMES = ['canary', 'middle', 'last'] as const;
type Name = (typeof NAMES)[number];
/** Which accounts run a newer commit first, as globs. */
const AFTER: Readonly<Record<Name, readonly string[]>> = { canary: [], middle: ['can*'], last: ['middle'] };
const SKILLS = ['Ada', 'Basic', 'Cobol', 'Dart'];
const MODES = ['apply', 'approve', 'approve-deletes'] as const satisfies readonly RunMode[];
const PERSON = { name: 'ops', via: 'cli' } as const;

type Step =
  | { readonly do: 'commit'; readonly of: readonly Name[]; readonly skills: readonly string[] }
  | { readonly do: 'run' | 'approve' | 'fail' | 'work'; readonly name: Name }
  | { readonly do: 'pause'; readonly onlyDeletes: boolean; readonly forMs: number | null }
  | { readonly do: 'resume' }
  | { readonly do: 'pass'; readonly ms: number };

interface Script {
  readonly modes: Readonly<Record<Name, (typeof MODES)[number]>>;
  readonly steps: readonly Step[];
}

const name = fc.constantFrom(...NAMES);
const mode = fc.constantFrom(...MODES);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('commit' as const),
    of: fc.subarray([...NAMES], { minLength: 1 }),
    skills: fc.subarray(SKILLS),
  }),
  { arbitrary: fc.record({ do: fc.constant('run' as const), name }), weight: 5 },
  fc.record({ do: fc.constantFrom('approve' as const, 'fail' as const, 'work' as const), name }),
  fc.record({
    do: fc.constant('pause' as const),
    onlyDeletes: fc.boolean(),
    forMs: fc.constantFrom(null, MINUTE_MS, 30 * MINUTE_MS),
  }),
  fc.constant({ do: 'resume' as const }),
  fc.record({
    do: fc.constant('pass' as const),
    ms: fc.constantFrom(MINUTE_MS, WAIT_MS / 2, WAIT_MS, 3 * WAIT_MS),
  }),
);
const scripts: fc.Arbitrary<Script> = fc.record({
  modes: fc.record({ canary: mode, middle: mode, last: mode }),
  steps: fc.array(step, { minLength: 5, maxLength: 40 }),
});

/** What an account is to contain since which commit, and what its runs have shown. */
interface Account {
  wants: { skills: readonly string[]; since: number };
  /** What it contained by its last run that no rollout held. */
  applied: string | null;
  good: { readonly commit: number; readonly endedMs: number }[];
  /** The last commit that it ran without waiting for others. */
  reached: number;
  isBad: boolean;
  /** The digests that the operator has approved and that no run has used. */
  approved: Set<string>;
}

/** How often what was seen in all stories. */
const tally = new Map<string, number>();
const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);

async function play({ modes, steps }: Script): Promise<void> {
  const sandbox = await startSandbox({
    seed: {
      accounts: NAMES.map((each) => ({
        name: each,
        token: `token-of-${each}`,
        skills: ['Ada'],
        resources: [{ id: `of-${each}` }],
      })),
    },
  });
  const store = sqliteFixture();
  const clock = new QuickClock();
  const tokens = new Map<string, string>(NAMES.map((each) => [each, `token-of-${each}`]));
  const connections = createConnections({
    api: API,
    version: 'test',
    token: (account) => Promise.resolve(new Secret(tokens.get(account.name) ?? '')),
    observer: () => () => undefined,
    authorities: () => Promise.resolve(''),
  });
  let runs = 0;
  const newRunId = (): string => `01900000-0000-7000-8000-${(runs += 1).toString(16).padStart(12, '0')}`;
  const deps: ApplyDeps = {
    service: connections,
    journal: store.journal,
    locks: store.locks,
    clock,
    newRunId,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    compareCommits: async (a, b) =>
      Number(a) < Number(b) ? 'ancestor' : Number(a) > Number(b) ? 'descendant' : 'same',
    loadCron: () => Promise.resolve(() => false),
    currentDigest: async (settings) => settingsDigest(settings),
  };
  let commit = 1;
  let pause: { readonly onlyDeletes: boolean; readonly untilMs: number } | null = null;
  const account = (): Account => ({
    wants: { skills: ['Ada'], since: 1 },
    applied: null,
    good: [],
    reached: 0,
    isBad: false,
    approved: new Set(),
  });
  const fleet: Record<Name, Account> = { canary: account(), middle: account(), last: account() };
  const textOf = (skills: readonly string[]): string => skills.toSorted().join();
  const bound = () => (pause !== null && pause.untilMs > clock.nowMs() ? pause : null);

  /** Whether the accounts before this one have had its change for long enough. */
  function mayFollow(of: Name): boolean {
    const { wants, applied } = fleet[of];
    if (applied === textOf(wants.skills)) return true;
    const before = NAMES.filter((each) => AFTER[of].some((glob) => globMatcher(glob)(each)));
    return before.every(
      (each) =>
        !fleet[each].isBad &&
        fleet[each].reached >= wants.since &&
        fleet[each].good.some((run) => run.commit >= wants.since && run.endedMs + WAIT_MS <= clock.nowMs()),
    );
  }

  async function run(of: Name): Promise<void> {
    const state = fleet[of];
    const settings: AccountSettings = {
      ...accountAt(sandbox.url, of),
      mode: modes[of],
      policy: { ...UNLIMITED, delete: 'always' },
      rollout: { after: AFTER[of], waitMs: WAIT_MS },
      desired: { skill: wanted(...state.wants.skills), allowedDeletes: [] },
      // As the configuration makes it: equal for equal files.
      configDigest: `sha256:${textOf(state.wants.skills)}`,
    };
    const [mayWrite, paused] = [mayFollow(of), bound()];
    const approved = (await store.journal.accountState(of)).approval?.digest ?? null;
    sandbox.clearRequests();
    // Runs are in the order of their beginnings.
    clock.pass(10);
    const lock = await store.locks.acquire(of, newRunId(), clock.nowMs());
    if ('heldBy' in lock) throw new Error(`the lease is held by ${lock.heldBy}`);
    const { lease } = lock;
    const result = await reconcileLeased(
      {
        settings,
        api: API,
        commit: {
          sha: String(commit).padStart(7, '0'),
          dirty: false,
          committedAt: '',
          authoredAt: '',
          author: null,
          subject: '',
        },
        configured: new Set(NAMES),
        trigger: 'schedule',
        accept: new Set(['no_evidence'] as const),
        lease,
        signals: { stop: new AbortController().signal, kill: new AbortController().signal },
      },
      lease,
      deps,
      { mode: modes[of], approvals: true },
    );
    await store.locks.release(lease);
    const { plan, operations } = result.ended;
    const writes = sandbox.requests().filter(({ method }) => method !== 'GET');
    const deletes = writes.filter(({ method }) => method === 'DELETE');
    const isGated = plan?.held.some(({ rules }) => rules.includes('rollout')) === true;
    count(`${of} ${result.status}${isGated ? ' waits' : ''}${paused === null ? '' : ' in a pause'}`);

    if (paused !== null) expect(paused.onlyDeletes ? deletes : writes).toEqual([]);
    if (!mayWrite) expect([of, writes]).toEqual([of, []]);
    const needsApproval = modes[of] === 'approve' ? writes : modes[of] === 'approve-deletes' ? deletes : [];
    if (needsApproval.length > 0) {
      expect([...state.approved]).toContain(plan?.digest);
      expect(approved).toBe(plan?.digest);
      state.approved.delete(plan?.digest ?? '');
      count('an approval was used');
    }
    const names = sandbox.state(of).skills.map((skill) => skill.name);
    expect(names).toEqual([...new Set(names)]);

    const isGood = result.status === 'converged' || result.status === 'held';
    if (result.status !== 'planned' && result.status !== 'interrupted') state.isBad = !isGood;
    if (isGood && !isGated) state.good.push({ commit, endedMs: clock.nowMs() });
    const hasWritten = operations.some(({ status }) => status !== 'held');
    if (mayWrite && (isGood || hasWritten || result.status === 'partial'))
      state.applied = textOf(state.wants.skills);
    if (state.applied === textOf(state.wants.skills) && mayWrite) state.reached = commit;
  }

  async function approve(of: Name): Promise<void> {
    const outcome = await store.operator.operate({ action: 'approve', account: of }, PERSON, clock.nowMs());
    if (outcome.type === 'approved') fleet[of].approved.add(outcome.digest);
  }

  const failing = new Set<Name>();
  const setFaults = (): void =>
    sandbox.setFaults(
      [...failing].map((each) => ({
        match: { account: each, method: 'POST' },
        times: 'always',
        do: { type: 'status', status: 422 },
      })),
    );

  try {
    for (const each of steps) {
      switch (each.do) {
        case 'commit':
          commit += 1;
          for (const of of each.of) {
            const isChanged = textOf(each.skills) !== textOf(fleet[of].wants.skills);
            if (isChanged) fleet[of].wants = { skills: each.skills, since: commit };
          }
          break;
        case 'run':
          await run(each.name);
          break;
        case 'approve':
          await approve(each.name);
          break;
        case 'fail':
        case 'work':
          if (each.do === 'fail') failing.add(each.name);
          else failing.delete(each.name);
          setFaults();
          break;
        case 'pause': {
          const { onlyDeletes, forMs } = each;
          await store.operator.pauseAll({ reason: 'a model', onlyDeletes, forMs }, PERSON, clock.nowMs());
          pause = { onlyDeletes, untilMs: forMs === null ? Infinity : clock.nowMs() + forMs };
          break;
        }
        case 'resume':
          await store.operator.resumeAll(PERSON, clock.nowMs());
          pause = null;
          break;
        case 'pass':
          clock.pass(each.ms);
          break;
      }
    }
    // In the end everybody gets everything.
    failing.clear();
    setFaults();
    await store.operator.resumeAll(PERSON, clock.nowMs());
    pause = null;
    for (let round = 0; round < 4; round += 1) {
      for (const of of NAMES) {
        await run(of);
        await approve(of);
        await run(of);
        await run(of);
      }
      clock.pass(WAIT_MS + MINUTE_MS);
    }
    for (const of of NAMES) {
      const skills = sandbox.state(of).skills.map((skill) => skill.name);
      expect([of, textOf(skills)]).toEqual([of, textOf(fleet[of].wants.skills)]);
    }
  } finally {
    await connections.close();
    await sandbox.close();
    await store.close();
  }
}

const RUNS = runsOf(2);

test(
  'no story of a fleet writes during a pause, before the accounts that run first, or without its approval',
  { timeout: RUNS * 5000 + 60_000 },
  async () => {
    await playCampaign<Script>({
      testFile: import.meta.filename,
      scripts,
      play,
      defaultRuns: RUNS,
      timeLimitMs: RUNS * 3000 + 30_000,
    });
    if (RUNS > 100) console.log(Object.fromEntries([...tally].toSorted(([a], [b]) => (a < b ? -1 : 1))));
    expect([...tally.keys()].some((what) => what.includes('waits'))).toBe(true);
    expect([...tally.keys()].some((what) => what.includes('in a pause'))).toBe(true);
    expect(tally.get('an approval was used')).toBeGreaterThan(0);
  },
);
