// Plays a script: each step happens, time passes, and after each step the watchers report violations. At the end all
// faults are removed, all pending work must complete, and all daemons stop.
import { perform } from '../../../src/daemon/http/actions.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import { DaemonHost } from './daemon-host.ts';
import { applyElsewhere, lockElsewhere, lockStore } from './foreign.ts';
import { CALM } from './remote-service.ts';
import type { AccountName, Script, Step } from './script.ts';
import { ACCOUNTS } from './script.ts';
import type { Operator } from '../../../src/core/operator.ts';
import { Stage } from './stage.ts';

const OPERATOR: Operator = { name: 'sam', via: 'cli' };

const MINUTE = 60_000;
/** Time passes in one leap until this long before a tick. */
const BEFORE_TICK_MS = 1500;
/** A step ends after this many ticks, and a script lets no more time pass after this many. */
const TICKS_OF_STEP = 25;
const TICKS_OF_SCRIPT = 80;
/** A little more than the longest time between two checks of a daemon. */
const LOOK_MS = 1100;

/** What happened in scripts, by kind. */
export type Figures = Record<string, number>;

/** Plays a script. Rejects with all violations after the first step that has some. */
export async function play(script: Script, figures: Figures = {}): Promise<void> {
  const stage = new Stage(script);
  const uninstall = stage.time.install(script.seed);
  const player = new Player(stage, figures);
  try {
    for (const name of ACCOUNTS) {
      const part = script.accounts[name];
      if (part !== undefined) stage.files.setAccount(name, { part, broken: false, remote: name });
    }
    await player.begin();
    for (const [index, step] of script.steps.entries()) {
      await player.perform(step);
      await player.check(`after step ${String(index)} (${JSON.stringify(step)})`);
    }
    await player.finish();
  } finally {
    player.count();
    await player.abandon();
    uninstall();
    stage.close();
  }
}

class Player {
  private readonly stage: Stage;
  private readonly figures: Figures;
  private readonly hosts: (DaemonHost | null)[] = [null, null];
  private readonly past: DaemonHost[] = [];
  private readonly others = new Set<Promise<void>>();
  private owners = 0;
  private digests: string[] = [];

  constructor(stage: Stage, figures: Figures) {
    this.stage = stage;
    this.figures = figures;
  }

  async begin(): Promise<void> {
    await this.start(0);
    await this.check('after the start');
  }

  async perform(step: Step): Promise<void> {
    const { stage } = this;
    const { files, time } = stage;
    stage.note(`STEP ${JSON.stringify(step)}`);
    this.add(`step ${step.type}`);
    switch (step.type) {
      case 'pass':
        return await this.pass(step.ms);
      case 'toTick': {
        const tick = this.hosts.flatMap((host) => host?.ledger.nextTickOf(step.account) ?? [])[0];
        return await this.pass(tick === undefined ? 0 : Math.max(0, tick + step.offMs - time.nowMs()));
      }
      case 'setClock':
        return await this.setClock(step.byMs);
      case 'edit': {
        const file = files.account(step.account);
        if (file !== undefined)
          files.setAccount(step.account, { ...file, part: { ...file.part, ...step.to } });
        return;
      }
      case 'break':
      case 'mend':
        return this.setBroken(step.account, step.type === 'break');
      case 'remove':
        if (files.names().length > 1 && files.account(step.account) !== undefined) files.remove(step.account);
        return;
      case 'rename': {
        const file = files.account(step.account);
        if (file === undefined || files.account(step.to) !== undefined) return;
        files.remove(step.account);
        files.setAccount(step.to, file);
        return;
      }
      case 'service':
        files.setService({ ...files.service.part, ...step.to }, files.service.broken);
        return;
      case 'reload':
        for (const host of this.alive()) await host.reload();
        return await time.settle();
      case 'mood':
        stage.service.setMood(step.account, step.mood);
        return;
      case 'hand':
        stage.service.byHand(step.account, step.name, step.does);
        return;
      case 'word':
        return await this.command(step);
      case 'foreignApply':
        return await this.elsewhere((owner) => applyElsewhere(stage, step.account, owner));
      case 'foreignLock':
        return await this.elsewhere((owner) => lockElsewhere(stage, step.account, step.ms, owner));
      case 'lockStore':
        return await this.elsewhere((owner) => lockStore(stage, step.ms, owner));
      case 'receiver':
        stage.receiverIsUp = step.up;
        return;
      case 'stop':
        return await this.stop(step.daemon);
      case 'start':
        return await this.start(step.daemon);
      default:
        return step satisfies never;
    }
  }

  /** Throws if there are violations. */
  async check(when: string): Promise<void> {
    const { stage } = this;
    await stage.time.settle();
    for (const host of this.alive()) {
      await host.judge();
      await host.judgeGauges();
    }
    if (stage.violations.length === 0) return;
    const story = process.env['ROLECALL_SCRIPT'] === undefined ? [] : ['The story:', ...stage.story];
    throw new Error([`${when}:`, ...stage.violations.slice(0, 5), ...story].join('\n'));
  }

  /** Removes all faults: pending work must complete, then the daemons stop and nothing of them remains. */
  async finish(): Promise<void> {
    const { stage } = this;
    stage.receiverIsUp = true;
    for (const name of ACCOUNTS) {
      stage.service.setMood(name, CALM);
      if (stage.files.account(name)?.broken === true) this.setBroken(name, false);
    }
    if (stage.files.service.broken) this.setBroken(null, false);
    if (this.alive().length === 0) await this.start(0);
    await this.pass(6 * MINUTE, Infinity);
    for (const host of this.alive()) await host.reload();
    await this.pass(40 * MINUTE, 20);
    await this.check('after all faults were removed');
    for (let n = 0; n <= 300 && this.alive().some((host) => !host.isIdle()); n += 1) {
      if (n === 300) stage.violate('the daemons are still not idle');
      await this.pass(2000, Infinity);
    }
    await this.check('after all faults were removed');
    await this.stop(0);
    await this.stop(1);
    await this.passOthers();
    const rows = stage.db.prepare('select id, delivered_at, failed_at from notices').all();
    stage.notices.judge(rows as { id: string; delivered_at: string | null; failed_at: string | null }[]);
    const running = stage.db.prepare(`select id from runs where status = 'running'`).pluck().all();
    // The next run closes a run whose end could not be journaled.
    if (running.length > 0 && stage.storeFreeMs === -Infinity)
      stage.violate(`still running: ${running.join()}`);
    await this.check('at the end');
  }

  /** Stops everything that still runs after a failure. */
  async abandon(): Promise<void> {
    for (const host of this.alive()) {
      await Promise.race([
        host.stop((ms) => this.stage.time.runTo(this.stage.time.timerMs() + ms)),
        this.later(2000),
      ]);
    }
    await Promise.race([this.passOthers(), this.later(3000)]);
  }

  count(): void {
    this.add('scripts');
    for (const { trigger, mode, status, writes } of this.stage.runs.runs.values()) {
      this.add('runs');
      this.add(`run ${trigger}`);
      this.add(`run in mode ${mode}`);
      this.add(`run ended ${String(status)}`);
      this.add('writes', writes);
    }
    for (const { ledger } of [...this.past, ...this.alive()]) {
      for (const [what, times] of Object.entries(ledger.counts)) this.add(`tick ${what}`, times);
    }
    for (const [what, times] of Object.entries(this.stage.notices.counts)) this.add(`notice ${what}`, times);
  }

  private alive(): DaemonHost[] {
    return this.hosts.filter((host) => host !== null);
  }

  private async pass(ms: number, mostTicks = Math.min(TICKS_OF_STEP, this.ticksLeft())): Promise<void> {
    const { time } = this.stage;
    const endMs = time.timerMs() + ms;
    const enough = this.ticks() + mostTicks;
    while (time.timerMs() < endMs && this.ticks() < enough && this.stage.violations.length === 0) {
      const nowMs = time.nowMs();
      const leftMs = endMs - time.timerMs();
      const untilTick = this.alive().map(
        ({ ledger }) => (ledger.nextTickWallMs(nowMs + leftMs) ?? Infinity) - nowMs,
      );
      const leapMs = Math.min(leftMs, ...untilTick.map((each) => each - BEFORE_TICK_MS));
      const isIdle = this.alive().every((host) => host.isIdle()) && this.others.size === 0;
      if (isIdle && leapMs > 3000) await time.leapTo(time.timerMs() + leapMs);
      else {
        const due = this.alive().map(({ ledger }) => Math.max(1, ledger.nextDueMs() - time.timerMs()));
        await time.runTo(time.timerMs() + Math.min(leftMs, 2000, ...due));
      }
      await time.settle();
      for (const host of this.alive()) {
        await host.look();
        await time.settle();
        await host.judge();
      }
    }
  }

  private ticks(): number {
    return [...this.past, ...this.alive()].reduce((sum, { ledger }) => sum + ledger.counts.ticks, 0);
  }

  private ticksLeft(): number {
    return TICKS_OF_SCRIPT - this.ticks();
  }

  private async setClock(byMs: number): Promise<void> {
    const { time } = this.stage;
    for (const host of this.alive()) host.ledger.advance();
    time.set(time.nowMs() + byMs);
    if (byMs > 20_000) this.stage.runs.setForwardMs = time.timerMs();
    for (const host of this.alive()) host.ledger.clockSet(byMs);
    await time.runTo(time.timerMs() + LOOK_MS);
  }

  private setBroken(account: AccountName | null, broken: boolean): void {
    const { files } = this.stage;
    if (account === null) return files.setService(files.service.part, broken);
    const file = files.account(account);
    if (file !== undefined) files.setAccount(account, { ...file, broken });
  }

  private async command({ account, word, by, digest }: Step & { type: 'word' }): Promise<void> {
    const { stage } = this;
    const [host] = this.alive();
    const named = digest === 'any' ? null : this.digestOf(account, digest);
    if (by === 'desk' || host === undefined) {
      if (word === 'sync' || stage.isStoreLocked()) return;
      const store = openSqliteStore(stage.storeFile);
      const { operator } = store;
      if (word === 'approve') {
        const nowMs = stage.time.nowMs();
        const outcome = await operator.approve(account, named, OPERATOR, nowMs);
        if (outcome.type === 'approved') {
          this.recordApproval(account, digest, outcome.digest);
          await this.expectRun(account);
        }
      } else if (word === 'pause') await operator.pause(account, null, OPERATOR, stage.time.nowMs());
      else await operator.resume(account, OPERATOR, stage.time.nowMs());
      await store.close();
      this.add(`word ${word} by the desk`);
      return await stage.time.settle();
    }
    if (stage.isStoreLocked() && word !== 'sync') return;
    if (word === 'sync') {
      const isQueued = (await host.api.account(account))?.activity === 'queued';
      if (isQueued && host.ledger.isFree(account)) host.ledger.replaceTick(account);
      host.ledger.request(account, 'manual');
    }
    const outcome = await stage.time.follow(
      perform(host.api, { action: word, account, digest: named, reason: null }, OPERATOR),
    );
    this.add(`word ${word}: ${outcome.type}`);
    if (outcome.type === 'approved') this.recordApproval(account, digest, outcome.digest);
    if (['approved', 'paused', 'resumed'].includes(outcome.type)) host.readPaused(account);
    if (word === 'sync' && outcome.type !== 'queued') host.ledger.withdraw(account);
    await stage.time.settle();
    if (outcome.type === 'approved') await this.expectRun(account);
  }

  /** Expects that an approval runs the account at once if that is possible. */
  private async expectRun(account: AccountName): Promise<void> {
    const { stage } = this;
    const hosts = this.alive();
    if (hosts.length === 0 || stage.runs.isPaused(account) || stage.isStoreLocked()) return;
    if (
      !hosts.every(
        (host) => host.canRun(account) && host.ledger.isFree(account) && host.ledger.hasRoom(account),
      )
    )
      return;
    const before = hosts.map((host) => host.ledger.turnsOf(account));
    await this.pass(2500, Infinity);
    const after = this.alive().map((host) => host.ledger.turnsOf(account));
    if (after.join() === before.join()) stage.violate(`no run of ${account} followed its approval`);
  }

  private recordApproval(account: AccountName, named: string, digest: string): void {
    const { stage } = this;
    if (named === 'other') stage.violate(`${account}: another plan was approved than the named one`);
    stage.runs.approved(account, digest, stage.time.nowMs());
  }

  /** The digest of an approval: that of the pending plan, or of an earlier one. */
  private digestOf(account: AccountName, which: 'pending' | 'other'): string {
    const pending = this.stage.db
      .prepare('select pending_digest from accounts where name = ?')
      .pluck()
      .get(account);
    if (typeof pending === 'string') this.digests = [...this.digests, pending];
    if (which === 'pending' && typeof pending === 'string') return pending;
    return this.digests.find((digest) => digest !== pending) ?? `sha256:${'0'.repeat(64)}`;
  }

  private async elsewhere(work: (owner: string) => Promise<void>): Promise<void> {
    const { stage } = this;
    if (stage.isStoreLocked()) return;
    this.owners += 1;
    const ended = work(`other${String(this.owners)}`)
      .catch((error: unknown) => stage.violate(`another process failed: ${String(error)}`))
      .finally(() => this.others.delete(ended));
    this.others.add(ended);
    await stage.time.settle();
  }

  private async passOthers(): Promise<void> {
    const { time } = this.stage;
    for (let n = 0; this.others.size > 0 && n < 2000; n += 1) await time.runTo(time.timerMs() + 1000);
  }

  private async start(index: 0 | 1): Promise<void> {
    if (this.hosts[index] !== null || this.stage.isStoreLocked()) return;
    this.owners += 1;
    this.hosts[index] = await DaemonHost.start(this.stage, `daemon${String(this.owners)}`);
    if (this.hosts[index] !== null) this.add('starts');
    await this.stage.time.settle();
  }

  private async stop(index: 0 | 1): Promise<void> {
    const host = this.hosts[index];
    if (host === null || host === undefined) return;
    // A store that stays locked would end the process instead.
    while (this.stage.isStoreLocked()) await this.stage.time.runTo(this.stage.time.timerMs() + 1000);
    this.hosts[index] = null;
    this.past.push(host);
    await host.stop((ms) => this.stage.time.runTo(this.stage.time.timerMs() + ms));
    this.add('stops');
  }

  private async later(ms: number): Promise<void> {
    for (let n = 0; n < ms; n += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  private add(what: string, times = 1): void {
    this.figures[what] = (this.figures[what] ?? 0) + times;
  }
}
