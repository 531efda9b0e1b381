// Two daemons, and now and then a third process, on one store and the same accounts: under load, over a service that
// loses responses, and while people change the accounts. It takes a minute, or ROLECALL_LONG_SECONDS.
import { expect, onTestFinished, test } from 'vitest';
import { type Fault, type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Daemon, EVERY_SECOND, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { countBy, sumBy } from '../support/grouping.ts';
import { NOTIFY, type Notice, type Receiver, startReceiver } from '../support/receiver.ts';
import { pick, randomNumbers } from '../support/random.ts';
import { makeWorkspace, type Result, until, type Workspace } from '../support/workspace.ts';

const SECONDS = Number(process.env['ROLECALL_LONG_SECONDS'] ?? 60);
const BUSY = ['acme', 'beta', 'gamma'] as const;
type Busy = (typeof BUSY)[number];
/** An account that runs by approvals only, and whose service has no faults. */
const GATE = 'gate';

/** rolecall creates a name that others removed this many times before it treats it as flapping. */
const MOST_REMOVALS = 2;
const MOST_SKILLS = 100;
const MOST_HELD = 4;

type LoggedWrite = Parameters<NonNullable<NonNullable<Parameters<typeof startSandbox>[0]>['log']>>[0];

interface Scene {
  readonly sandbox: Sandbox;
  readonly workspace: Workspace;
  readonly receiver: Receiver;
  readonly daemons: readonly [Daemon, Daemon];
  /** Every write that the service received. */
  readonly writes: LoggedWrite[];
  /** The names in the file of each busy account. */
  readonly desired: Record<Busy, string[]>;
  /** How often a manual change removed an entry: `account name` → times. */
  readonly removed: Map<string, number>;
}

interface RunRow {
  readonly id: string;
  readonly account: string;
  readonly trigger: string;
  readonly status: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly created: number;
  readonly deleted: number;
}

interface OperationRow {
  readonly account: string;
  readonly run_id: string;
  readonly action: 'create' | 'delete';
  readonly name: string;
  readonly remote_id: string | null;
  readonly status: string;
  readonly attempts: number;
  readonly settled_by: string | null;
}

function faultsOf(account: Busy): Fault[] {
  const rule = (method: string, probability: number, action: Fault['do']): Fault => ({
    match: { account, method },
    times: 'always',
    probability,
    do: action,
  });
  return [
    rule('GET', 0.02, { type: 'status', status: 500 }),
    rule('GET', 0.01, { type: 'drop-before-effect' }),
    rule('POST', 0.08, { type: 'drop-after-effect' }),
    rule('POST', 0.05, { type: 'effect-then-status', status: 500 }),
    rule('POST', 0.03, { type: 'delay-effect', ms: 200 }),
    rule('POST', 0.02, { type: 'status', status: 503 }),
    rule('DELETE', 0.08, { type: 'drop-after-effect' }),
    rule('DELETE', 0.05, { type: 'effect-then-status', status: 502 }),
    rule('DELETE', 0.03, { type: 'drop-before-effect' }),
  ];
}

async function startScene(): Promise<Scene> {
  const writes: LoggedWrite[] = [];
  const sandbox = await startSandbox({
    seed: {
      accounts: [...BUSY, GATE].map((name) => ({
        name,
        token: `token-of-${name}`,
        skills: ['Start'],
        resources: [{ id: 'r1' }, { id: 'r2', skills: ['Start'] }],
      })),
      settings: { latencyMs: 15, listOrder: 'shuffled' },
    },
    faults: BUSY.flatMap(faultsOf),
    log: (entry) => {
      if (entry.method !== 'GET') writes.push(entry);
    },
  });
  onTestFinished(() => sandbox.close());
  const receiver = await startReceiver();
  const workspace = makeWorkspace('token-of-acme');
  workspace.write(
    'config/rolecall.yaml',
    [
      'accounts: accounts/*.yaml',
      'store: ../data/rolecall.db',
      'api: { requestsPerSecond: 1000, timeout: 4s, settle: 5s, retries: 2 }',
      `defaults: { mode: apply, schedule: ${EVERY_SECOND}, jitter: 0s, policy: { maxDeletes: 10000, maxDeletesPerDay: 100000, maxDeletePercent: 100, unusedFor: 0s, allowNoPeople: true } }`,
      WITH_TOKEN,
      NOTIFY,
      '',
    ].join('\n'),
  );
  const names = Array.from({ length: 20 }, (_, index) => `Skill ${index}`);
  const desired = { acme: ['Start', ...names], beta: ['Start', ...names], gamma: ['Start', ...names] };
  const parts = { sandbox, workspace, receiver, writes, desired, removed: new Map<string, number>() };
  for (const account of BUSY) writeFile(parts, account);
  writeAccount(workspace, sandbox, GATE, 'mode: approve\nskills: [Start, Gated]');
  const env = { ...tokens(), ...receiver.env };
  const daemons = await Promise.all([startDaemon(workspace, { env }), startDaemon(workspace, { env })]);
  return { ...parts, daemons };
}

function tokens(): Record<string, string> {
  return Object.fromEntries(
    [...BUSY, GATE].map((name) => [`${name.toUpperCase()}_TOKEN`, `token-of-${name}`]),
  );
}

function writeAccount(workspace: Workspace, sandbox: Sandbox, account: string, lines: string): void {
  workspace.write(
    `config/accounts/${account}.yaml`,
    `baseUrl: ${sandbox.url}\ntoken: { env: ${account.toUpperCase()}_TOKEN }\n${lines}\n`,
  );
}

function writeFile(
  { workspace, sandbox, desired }: Pick<Scene, 'workspace' | 'sandbox' | 'desired'>,
  of: Busy,
): void {
  writeAccount(workspace, sandbox, of, `skills: ${JSON.stringify(desired[of])}`);
}

function skillsOf({ sandbox }: Pick<Scene, 'sandbox'>, account: string): string[] {
  return sandbox
    .state(account)
    .skills.map(({ name }) => name)
    .toSorted();
}

function removeByHand(
  { sandbox, removed }: Scene,
  account: string,
  { id, name }: { readonly id: string; readonly name: string },
): void {
  const key = `${account} ${name}`;
  removed.set(key, (removed.get(key) ?? 0) + 1);
  sandbox.removeEntry(account, id);
}

/** One random manual change of an account, in the service or in its file. */
function changeManually(scene: Scene, random: () => number, turn: number): void {
  const { sandbox, desired, removed } = scene;
  const account = pick(random, BUSY) ?? 'acme';
  const { skills, resources } = sandbox.state(account);
  const kind = random();
  if (kind < 0.35) {
    sandbox.addSkill(account, `Stray ${turn}`);
  } else if (kind < 0.7) {
    const entry = pick(
      random,
      skills.filter(({ name }) => desired[account].includes(name) && name !== 'Start'),
    );
    if (entry === undefined || (removed.get(`${account} ${entry.name}`) ?? 0) >= MOST_REMOVALS) return;
    removeByHand(scene, account, entry);
  } else if (kind < 0.85) {
    const names = desired[account];
    if (names.length > MOST_SKILLS) names.splice(1, MOST_SKILLS / 2);
    names.push(...Array.from({ length: 5 }, (_, index) => `Skill ${turn}.${index}`));
    writeFile(scene, account);
  } else {
    const person = pick(random, resources);
    if (person === undefined) return;
    const [first] = person.skillsIds;
    // Few at a time, because losing ten entries, more than a quarter, at once would block the run.
    if (person.skillsIds.length >= MOST_HELD && first !== undefined) {
      sandbox.unassign(account, person.id, first);
      return;
    }
    const entry = pick(
      random,
      skills.filter(({ id }) => !person.skillsIds.includes(id)),
    );
    if (entry !== undefined) sandbox.assign(account, person.id, entry.id);
  }
}

/** Makes manual changes until the end. */
async function keepChanging(scene: Scene, isOver: () => boolean): Promise<void> {
  const random = randomNumbers(7);
  for (let turn = 1; !isOver(); turn += 1) {
    changeManually(scene, random, turn);
    await new Promise((resolve) => setTimeout(resolve, 100 + random() * 300));
  }
}

/** The third process: `apply` for one account or for the busy ones, until the end. */
async function applyNowAndThen({ workspace }: Scene, isOver: () => boolean): Promise<readonly Result[]> {
  const random = randomNumbers(11);
  const results: Result[] = [];
  while (!isOver()) {
    const account = pick(random, BUSY);
    const accounts = random() < 0.7 && account !== undefined ? [account] : BUSY;
    results.push(await workspace.run(['apply', '--yes', '--allow-held', ...accounts], { env: tokens() }));
    await new Promise((resolve) => setTimeout(resolve, random() * 1500));
  }
  return results;
}

/** Approves the same plan twice, because each run needs an approval. Returns the number of approvals. */
async function approveTwice(scene: Scene): Promise<number> {
  const { sandbox, workspace, daemons } = scene;
  const waiting = async (): Promise<string | null> =>
    (await daemons[0].api<{ pending: { digest: string } | null }>(`accounts/${GATE}`)).body.pending?.digest ??
    null;
  const digests = new Set<string>();
  for (const channel of ['command line', 'API']) {
    await until('a plan waits', async () => (await waiting()) !== null);
    const digest = (await waiting()) ?? '';
    digests.add(digest);
    const before = gateRuns(daemons);
    await until('both daemons have seen it wait', () =>
      gateRuns(daemons).every((n, i) => n > (before[i] ?? 0)),
    );
    expect(skillsOf(scene, GATE)).toEqual(['Start']);
    if (channel === 'API')
      expect((await daemons[1].api(`accounts/${GATE}/approve`, { digest })).status).toBe(200);
    else expect((await workspace.run(['approve', GATE, digest], { env: tokens() })).status).toBe(0);
    await until('the plan is executed', () => skillsOf(scene, GATE).includes('Gated'));
    await until('the approval is used up', async () => (await waiting()) === null);
    const created = sandbox.state(GATE).skills.find(({ name }) => name === 'Gated');
    if (created !== undefined) removeByHand(scene, GATE, created);
  }
  await until('a plan waits again', async () => (await waiting()) !== null);
  expect([...digests, await waiting()]).toEqual([...digests, ...digests]);
  return 2;
}

/** How often each daemon handled the account: with a run, or with a tick that found it locked. */
function gateRuns(daemons: Scene['daemons']): number[] {
  return daemons.map((daemon) => daemon.runsEnded(GATE) + daemon.events('locked', GATE).length);
}

/** Ends the faults, and waits until every account matches its file. */
async function waitForRest(scene: Scene): Promise<void> {
  const { sandbox, daemons, desired } = scene;
  sandbox.setFaults([]);
  for (const account of BUSY) {
    for (const { id, skillsIds } of sandbox.state(account).resources) {
      for (const skill of skillsIds) sandbox.unassign(account, id, skill);
    }
  }
  await until('every account matches its file', async () => {
    // After failures in a row the schedule waits; a requested run does not.
    for (const account of BUSY) await daemons[0].api(`accounts/${account}/sync`, {});
    return BUSY.every((account) => skillsOf(scene, account).join() === desired[account].toSorted().join());
  });
  const ended = daemons.map((daemon) => BUSY.map((account) => daemon.runsEnded(account, 'converged')));
  await until('each account has converged', () =>
    BUSY.every((account, index) =>
      daemons.some((daemon, which) => daemon.runsEnded(account, 'converged') > (ended[which]?.[index] ?? 0)),
    ),
  );
  for (const account of [...BUSY, GATE]) await daemons[1].api(`accounts/${account}/pause`, {});
  await until('both daemons are idle', async () => {
    const answers = await Promise.all(
      daemons.map((daemon) => daemon.api<{ accounts: readonly { activity: string }[] }>('accounts')),
    );
    return answers.every(({ body }) => body.accounts.every(({ activity }) => activity === 'idle'));
  });
}

test(
  `two daemons and a third process share a store for ${SECONDS} s: nothing is applied, journaled, notified or approved twice`,
  { timeout: (SECONDS + 110) * 1000 },
  async () => {
    const scene = await startScene();
    const { workspace, daemons } = scene;
    const endsAtMs = Date.now() + SECONDS * 1000;
    const isOver = (): boolean => Date.now() > endsAtMs;
    const [approvals, results] = await Promise.all([
      approveTwice(scene),
      applyNowAndThen(scene, isOver),
      keepChanging(scene, isOver),
    ]);
    const acted = scene.sandbox.faults().acted.reduce((sum, times) => sum + times, 0);
    await waitForRest(scene);
    for (const daemon of daemons) await daemon.stop();

    // The faults took effect.
    expect(acted).toBeGreaterThan(SECONDS);
    expect(daemons.flatMap((daemon) => daemon.events('locked')).length).toBeGreaterThan(0);
    expect(results.length).toBeGreaterThan(1);
    // 1: not everything could be applied at that moment.
    expect(results.filter(({ status }) => status !== 0 && status !== 1)).toEqual([]);
    for (const { stderr } of results) expect(stderr).not.toMatch(/bug in rolecall|SQLITE|token-of-/);
    for (const daemon of daemons) {
      expect(daemon.events('run_failed')).toEqual([]);
      expect(daemon.output().stderr).not.toMatch(/bug in rolecall|SQLITE|token-of-/);
    }

    expectNoDuplicates(scene);
    expectNoOverlaps(workspace);
    expectRowsForAllWrites(scene);
    expectEachNoticeOnce(scene);
    expectEachApprovalUsedOnce(scene, approvals);
    expect(workspace.rows('select * from locks')).toEqual([]);
    expect(workspace.rows(`select * from runs where status in ('running', 'interrupted')`)).toEqual([]);
  },
);

function isEffective({ effect, fault }: LoggedWrite): boolean {
  // A delayed effect comes after the log entry.
  return effect || fault === 'delay-effect';
}

function expectNoDuplicates(scene: Scene): void {
  for (const account of [...BUSY, GATE]) {
    const names = skillsOf(scene, account);
    expect(names.length).toBe(new Set(names).size);
  }
  const effects = (method: string): Map<string, number> =>
    countBy(
      scene.writes.filter((write) => write.method === method && isEffective(write)),
      ({ account, name }) => `${account} ${name}`,
    );
  const [created, deleted] = [effects('POST'), effects('DELETE')];
  const tooOften = [...created].filter(
    ([key, times]) => times > 1 + (scene.removed.get(key) ?? 0) + (deleted.get(key) ?? 0),
  );
  expect(tooOften).toEqual([]);
}

/** By the journal: of each account, every run that may write begins after the one before it has ended. */
function expectNoOverlaps(workspace: Workspace): void {
  const runs = workspace.rows<RunRow>(
    `select * from runs where mode != 'plan' order by account, started_at, finished_at`,
  );
  expect(new Set(runs.map(({ trigger }) => trigger === 'cli'))).toEqual(new Set([true, false]));
  const overlaps = runs.filter((run, index) => {
    const before = runs[index - 1];
    return before?.account === run.account && before.finished_at > run.started_at;
  });
  expect(overlaps).toEqual([]);
}

function operationsOf(workspace: Workspace): readonly OperationRow[] {
  return workspace.rows<OperationRow>(
    'select runs.account, operations.* from operations join runs on runs.id = run_id',
  );
}

function expectRowsForAllWrites({ workspace, writes }: Scene): void {
  const operations = operationsOf(workspace);
  // A row counts how often its request was sent: every request has a row, and no row counts too many.
  const sent = sumBy(operations, rowKey, ({ attempts }) => attempts);
  expect(differences(sent, countBy(writes, writeKey))).toEqual([]);
  // Operations reported as done were done. (A create is sent again if its response was lost and its entry was removed.)
  const done = operations.filter(({ status, attempts }) => status === 'done' && attempts > 0);
  const effects = countBy(writes.filter(isEffective), writeKey);
  const claimed = [...countBy(done, rowKey)].filter(([key, times]) => times > (effects.get(key) ?? 0));
  expect(claimed).toEqual([]);
  expect([...effects.keys()].filter((key) => !sent.has(key))).toEqual([]);
  const open = operations.filter(
    ({ status, settled_by }) =>
      status === 'sent' || status === 'pending' || (status === 'unknown' && settled_by === null),
  );
  expect(open).toEqual([]);
}

/** `key: in the journal / in the service`, where these differ. */
function differences(journal: ReadonlyMap<string, number>, service: ReadonlyMap<string, number>): string[] {
  return [...new Set([...journal.keys(), ...service.keys()])]
    .filter((key) => (journal.get(key) ?? 0) !== (service.get(key) ?? 0))
    .map((key) => `${key}: ${journal.get(key) ?? 0} / ${service.get(key) ?? 0}`);
}

function writeKey({ method, account, name, path }: LoggedWrite): string {
  return method === 'POST'
    ? `${account} create ${name}`
    : `${account} delete ${decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))}`;
}

function rowKey({ account, action, name, remote_id }: OperationRow): string {
  return `${account} ${action} ${action === 'create' ? name : remote_id}`;
}

function expectEachNoticeOnce({ workspace, receiver, daemons }: Scene): void {
  const notices = receiver.notices();
  expect(receiver.refused()).toEqual([]);
  const twice = [...countBy(notices, ({ id }) => id), ...countBy(notices, noticeKey)].filter(
    ([, n]) => n > 1,
  );
  expect(twice).toEqual([]);
  // Both daemons have delivered, and nothing waits.
  for (const daemon of daemons) expect(daemon.events('notification_delivered').length).toBeGreaterThan(0);
  expect(daemons.flatMap((daemon) => daemon.events('notification_delivered'))).toHaveLength(notices.length);
  expect(workspace.rows('select * from notices where delivered_at is null')).toEqual([]);

  const settled = new Set(
    operationsOf(workspace)
      .filter(({ settled_by }) => settled_by !== null)
      .map(({ run_id }) => run_id),
  );
  const runs = workspace.rows<RunRow>('select * from runs order by started_at');
  const applied = new Set(notices.filter(({ type }) => type === 'applied').map(({ data }) => data.runId));
  for (const { id, trigger, created, deleted } of runs) {
    // An outcome that a later run determined was not known when the notice was written.
    if (settled.has(id)) continue;
    expect({ id, isNotified: applied.has(id) }).toEqual({
      id,
      isNotified: trigger !== 'cli' && created + deleted > 0,
    });
  }
  for (const account of [...BUSY, GATE]) expectNoOddRecoveries(receiver.notices(account));
}

function noticeKey({ type, data }: Notice): string {
  return `${data.runId} ${type}`;
}

/** Expects no recovery without a failure before it, and none twice. */
function expectNoOddRecoveries(notices: readonly Notice[]): void {
  const states = notices.map(({ type }) => type).filter((type) => type !== 'applied');
  const odd = states.filter(
    (type, index) => type === 'recovered' && [undefined, 'recovered'].includes(states[index - 1]),
  );
  expect(odd).toEqual([]);
}

function expectEachApprovalUsedOnce({ workspace, writes }: Scene, approvals: number): void {
  const created = workspace.rows<RunRow>(`select * from runs where account = ? and created > 0`, GATE);
  expect(created).toHaveLength(approvals);
  expect(writes.filter(({ account }) => account === GATE)).toHaveLength(approvals);
  const [row] = workspace.rows('select approved_digest, approved_at from accounts where name = ?', GATE);
  expect(row).toEqual({ approved_digest: null, approved_at: null });
}
