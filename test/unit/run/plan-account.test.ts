// From an observation to a plan: the age of the source, the named entries, the warnings.
import { describe, expect, it } from 'vitest';
import type { Observation } from '../../../src/run/observe.ts';
import type { SourceAge } from '../../../src/core/plan.ts';
import { planAccount } from '../../../src/run/plan-account.ts';
import type { Guard, PlanningDeps } from '../../../src/run/request.ts';
import type { DesiredCatalog } from '../../../src/core/catalog.ts';
import { type AccountHistory, NO_RECORDS } from '../../../src/core/history.ts';
import type { AccountState, Journal } from '../../../src/core/ports/journal.ts';
import type { CommitRelation } from '../../../src/core/ports/repository.ts';
import type { ConfigCommit } from '../../../src/core/settings.ts';
import { entry, observed, POLICY, wanted } from '../core/builders.ts';
import { bareRequest, unused } from './bare-context.ts';
import { QuickClock } from './quick-clock.ts';

interface Setting {
  readonly observation?: Partial<Observation>;
  readonly memory?: Partial<AccountHistory>;
  readonly desired?: Partial<DesiredCatalog>;
  readonly commit?: string;
  readonly committedAt?: string;
  /** The files that differ from the commit; null: some, and nobody knows which. */
  readonly changed?: readonly string[] | null;
  readonly isDaemon?: boolean;
  readonly lastApplied?: AccountState['lastAppliedCommit'];
  readonly relation?: CommitRelation;
  readonly accept?: readonly Guard[];
  readonly frozen?: boolean;
}

async function planned(of: Setting = {}) {
  const clock = new QuickClock();
  const compared: string[] = [];
  const state: AccountState = {
    remoteAccountId: '42',
    pause: null,
    throttledUntilMs: null,
    lastAppliedCommit: of.lastApplied ?? null,
    releasedRuns: new Map(),
    pending: null,
    approval: null,
    consecutiveFailures: 0,
  };
  const journal: Journal = {
    ...unused<Journal>('journal'),
  };
  const deps: PlanningDeps = {
    ...unused<PlanningDeps>('deps'),
    journal,
    clock,
    sha256: (text) => text,
    compareCommits: async (a, b) => {
      compared.push(`${a} to ${b}`);
      return of.relation ?? 'unknown';
    },
    loadCron: async () => () => true,
  };
  const commit: ConfigCommit | null =
    of.commit === undefined
      ? null
      : {
          sha: of.commit,
          dirty: of.changed === null || (of.changed ?? []).length > 0,
          changed: of.changed === null ? undefined : new Map(of.changed?.map((name) => [`/${name}`, name])),
          committedAt: of.committedAt ?? '',
          authoredAt: '',
          author: null,
          subject: '',
        };
  const bare = bareRequest({ skill: wanted('Kept'), ...of.desired });
  const policy = of.frozen === true ? { ...POLICY, freeze: [{ cron: '* * * * *', forMs: 1 }] } : POLICY;
  const daemon = of.isDaemon === true ? { lease: { account: 'acme', runId: 'run', takenAtMs: 0 } } : {};
  const request = { ...bare, ...daemon, commit, settings: { ...bare.settings, policy } };
  const observation: Observation = {
    observed: observed({ skill: [entry('Kept'), entry('Old')] }),
    remoteAccountId: '42',
    formerName: null,
    state,
    identified: true,
    missingUse: new Set(),
    implausible: null,
    unknownHolders: new Map(),
    isGood: true,
    journaled: {
      ...NO_RECORDS,
      ...of.memory,
      lastGood: { observed: observed(), deletedSince: new Set(), createdSince: new Map() },
      unsettled: [],
    },
    takenAtMs: clock.nowMs(),
    ...of.observation,
  };
  return { ...(await planAccount({ request, deps }, observation, of.accept)), compared, clock };
}

type Planning = Awaited<ReturnType<typeof planned>>;

const codes = ({ plan }: Planning) => plan.warnings.map(({ code }) => code);
const rules = ({ plan }: Planning) => plan.held.map((held) => held.rules);

describe('the source', () => {
  const last = { sha: 'b', committedAt: '2026-03-10T12:00:00+01:00' };

  it.each<[string, Setting, SourceAge, number]>([
    ['without git', {}, 'current', 0],
    ['without git, and with it before', { lastApplied: last }, 'unknown', 0],
    ['never applied before', { commit: 'a' }, 'current', 0],
    ['the commit that was applied last', { commit: 'b', lastApplied: last }, 'current', 0],
    ['the same to git', { commit: 'a', lastApplied: last, relation: 'same' }, 'current', 1],
    ['a later commit', { commit: 'a', lastApplied: last, relation: 'descendant' }, 'current', 1],
    ['an earlier commit', { commit: 'a', lastApplied: last, relation: 'ancestor' }, 'older', 1],
    ['a commit of another line', { commit: 'a', lastApplied: last, relation: 'diverged' }, 'diverged', 1],
    [
      'unknown to git, and earlier',
      { commit: 'a', lastApplied: last, committedAt: '2026-03-10T10:59:59Z' },
      'older',
      1,
    ],
    [
      'unknown to git, of the same time',
      { commit: 'a', lastApplied: last, committedAt: '2026-03-10T11:00:00Z' },
      'current',
      1,
    ],
    [
      'unknown to git, and later',
      { commit: 'a', lastApplied: last, committedAt: '2026-03-10T11:30:00Z' },
      'current',
      1,
    ],
  ])('is judged by its commit: %s', async (_, of, source, comparisons) => {
    const made = await planned(of);
    const isHeld = source === 'older' || source === 'unknown';
    expect(rules(made)).toEqual(isHeld ? [['source']] : []);
    expect(codes(made)).toEqual(source === 'diverged' || source === 'unknown' ? [`${source}_source`] : []);
    expect([made.compared, made.sourceAccepted]).toEqual([
      Array.from({ length: comparisons }, () => 'a to b'),
      !isHeld,
    ]);
    expect(made.plan.configCommit).toBe(of.commit ?? null);
  });

  it.each<[string, Setting, boolean]>([
    ['changed files in the daemon', { commit: 'a', changed: ['a.yaml'], isDaemon: true }, true],
    ['unknown changes in the daemon', { commit: 'a', changed: null, isDaemon: true }, true],
    ['a commit that git stopped reporting to the daemon', { lastApplied: last, isDaemon: true }, true],
    ['changed files in a command', { commit: 'a', changed: ['a.yaml'] }, false],
    ['the files of the commit', { commit: 'a', changed: [], isDaemon: true }, false],
    ['no git', { isDaemon: true }, false],
  ])(
    'holds creates and deletes, and is not recorded as applied, only if it is not committed: %s',
    async (_, of, isHeld) => {
      const desired = { skill: wanted('Kept', 'New') };
      const made = await planned({ ...of, desired });
      expect(rules(made)).toEqual(isHeld ? [['source'], ['source']] : []);
      expect(made.appliesCommit).toBe(!isHeld);
    },
  );

  it('that is not committed is named with what releases it', async () => {
    const made = await planned({ commit: 'a', changed: ['c/a.yaml', 'b 2.yaml'], isDaemon: true });
    expect(made.plan.held).toMatchObject([
      {
        reason: expect.stringContaining('as they are now: c/a.yaml, b 2.yaml'),
        release: expect.stringContaining("`git checkout HEAD -- c/a.yaml 'b 2.yaml'`"),
      },
    ]);
  });

  it('that is older is accepted on request', async () => {
    const made = await planned({
      commit: 'a',
      lastApplied: last,
      relation: 'ancestor',
      accept: ['source'],
    });
    expect([rules(made), codes(made), made.sourceAccepted]).toEqual([[], ['older_source'], true]);
  });

  it('that is unknown now and was known is accepted on request', async () => {
    const made = await planned({ lastApplied: last, accept: ['source'] });
    expect([rules(made), codes(made), made.sourceAccepted]).toEqual([[], ['unknown_source'], true]);
  });
});

describe('the input of a plan', () => {
  it('contains the time, the account and the warnings of the lists', async () => {
    const oddity = { code: 'repeated_id', message: 'm' };
    const made = await planned({ observation: { observed: observed({ warnings: [oddity] }) } });
    expect(made.plan).toMatchObject({
      account: 'acme',
      remoteAccountId: '42',
      createdAt: new Date(made.clock.nowMs()).toISOString(),
      warnings: [oddity],
    });
  });

  it.each<[Partial<Observation>, readonly string[]]>([
    [{ identified: false, remoteAccountId: '42' }, ['identity_unknown']],
    [{ identified: false, remoteAccountId: null }, []],
    [{ identified: true, remoteAccountId: '42' }, []],
  ])(
    'contains a warning only for an expected account that no entry confirms: %j',
    async (observation, expected) => {
      expect(codes(await planned({ observation }))).toEqual(expected);
    },
  );

  it('contains a recently confirmed delete for as long as a list may be stale', async () => {
    const deletedAgo = (ms: number): Partial<AccountHistory> => ({
      recent: [
        {
          runId: 'earlier',
          action: 'delete',
          kind: 'skill',
          name: 'Old',
          remoteId: 'Old',
          status: 'done',
          attempts: 1,
          finishedAtMs: Date.now() - ms,
          listed: false,
        },
      ],
    });
    expect((await planned({ memory: deletedAgo(60_000) })).plan.summary.delete).toBe(0);
    expect((await planned({ memory: deletedAgo(180_000) })).plan.summary.delete).toBe(1);
  });
});

describe('the entries that a file names', () => {
  const lists = observed({
    skill: [entry('Kept'), entry('Former'), entry('Old'), entry('shown', '7'), entry('other', '8')],
    role: [entry('Kept'), entry('Clerk')],
  });
  const skill = [...wanted('Kept', 'Asked', 'a\u0301'), { name: 'New', formerly: ['Former'] }];

  it('are those of its present and former names, each in its kind', async () => {
    const { named } = await planned({ desired: { skill } });
    expect(named(lists)).toEqual(['skill:Kept', 'skill:Former']);
  });

  it('are also those whose name the service changed', async () => {
    const changedNames = new Map([
      ['skill:7', { requested: 'Asked', name: 'shown', listed: true }],
      ['skill:8', { requested: 'Somebody', name: 'other', listed: true }],
    ] as const);
    const { named } = await planned({
      desired: { skill },
      memory: { changedNames },
      observation: { observed: lists },
    });
    expect(named(lists)).toEqual(['skill:Kept', 'skill:Former', 'skill:7']);
  });
});
