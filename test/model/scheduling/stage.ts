// What all daemons of a script share: the time, the folder with its files and its store, the service, the receiver of
// notices, and the watchers. Violations are collected here, because the daemon would handle a thrown one as a bug.
import { settingsDigest } from '../../../src/app/changes-during-run.ts';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQLite } from '../../../src/platform/sqlite.ts';
import type { ApplyDeps } from '../../../src/app/request.ts';
import type { Journal } from '../../../src/core/ports.ts';
import { cronTicked } from '../../../src/daemon/cron.ts';
import type { Store } from '../../../src/store/store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import { Files } from './files.ts';
import { NoticeWatch } from './notice-watch.ts';
import { ProcessTime } from './process-time.ts';
import { RemoteService } from './remote-service.ts';
import type { FileAtTurn } from './run-watch.ts';
import { RunWatch } from './run-watch.ts';
import type { Script } from './script.ts';

export class Stage {
  readonly time: ProcessTime;
  readonly files: Files;
  readonly storeFile: string;
  readonly db: SQLite.Database;
  readonly service: RemoteService;
  readonly runs: RunWatch;
  readonly notices: NoticeWatch;
  readonly violations: string[] = [];
  /** What happened, to find the cause of a violation. */
  readonly story: string[] = [];
  receiverIsUp = true;
  /** When another program last released the store; Infinity while it is locked. */
  storeFreeMs = -Infinity;
  private readonly folder: string;
  private runIds = 0;

  constructor({ startAt, service }: Script) {
    this.folder = mkdtempSync(join(tmpdir(), 'rolecall-model-'));
    this.time = new ProcessTime(Date.parse(startAt));
    this.files = new Files(this.folder, service);
    this.storeFile = join(this.folder, 'data/rolecall.db');
    void openSqliteStore(this.storeFile).close();
    this.db = new SQLite(this.storeFile, { readonly: true });
    const facts = {
      db: this.db,
      wallMs: () => this.time.nowMs(),
      timerMs: () => this.time.timerMs(),
      violate: (what: string) => this.violate(what),
    };
    this.runs = new RunWatch(facts);
    this.notices = new NoticeWatch(facts.violate);
    this.service = new RemoteService((request) => this.runs.requestArrived(request));
  }

  violate(what: string): void {
    this.violations.push(`${new Date(this.time.nowMs()).toISOString()} ${what}`);
    this.note(`VIOLATION ${what}`);
  }

  note(what: string): void {
    this.story.push(`${new Date(this.time.nowMs()).toISOString()} ${what}`);
  }

  isStoreLocked(): boolean {
    return this.storeFreeMs === Infinity;
  }

  /** Whether an operation on the store may have failed recently because it was locked. */
  wasStoreLocked(): boolean {
    return this.time.timerMs() - this.storeFreeMs < 5000;
  }

  /** The dependencies of the runs of one process; `fileOf` returns the account file at its turn. */
  depsOf(owner: string, store: Store, fileOf: (account: string) => FileAtTurn | null): ApplyDeps {
    const clock = this.time.clockOf(owner);
    return {
      service: this.service.portOf(
        clock,
        () => this.time.timerMs(),
        async (account) => (await store.journal.accountState(account)).throttledUntilMs,
      ),
      journal: this.watched(store.journal, owner, fileOf),
      locks: store.locks,
      clock,
      newRunId: () => this.newRunId(),
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
      compareCommits: () => Promise.resolve('unknown'),
      currentDigest: async (settings) => settingsDigest(settings),
      loadCron: () => Promise.resolve(cronTicked),
    };
  }

  close(): void {
    this.db.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The same journal, which reports runs to the watchers. */
  private watched(journal: Journal, owner: string, fileOf: (account: string) => FileAtTurn | null): Journal {
    const { runs } = this;
    const note = (what: string): void => this.note(what);
    const watched: Pick<Journal, 'beginRun' | 'endRun' | 'takeApproval'> = {
      async beginRun(run, fence) {
        await journal.beginRun(run, fence);
        note(`${owner}: run of ${run.account} begins (${run.trigger}, ${run.mode})`);
        runs.begins(run, owner, fileOf(run.account));
      },
      async endRun(id, end) {
        const isOwn = await journal.endRun(id, end);
        note(`${owner}: run ${id} ends ${end.status} ${end.errorCode ?? ''}`);
        if (isOwn) runs.ends(id, end);
        else runs.wasEnded(id);
        return isOwn;
      },
      async takeApproval(run, digest, nowMs) {
        const taking = await journal.takeApproval(run, digest, nowMs);
        note(`${owner}: approval of ${run.account}: ${taking.type}`);
        if (taking.type === 'taken') runs.taken(run.account, digest);
        return taking;
      },
    };
    return new Proxy(journal, {
      get: (target, property, receiver): unknown =>
        Reflect.get(
          property in watched ? watched : target,
          property,
          property in watched ? watched : receiver,
        ),
    });
  }

  /** In the order of time, as UUIDv7 are, which follows a clock that is set back. */
  private newRunId(): string {
    this.runIds += 1;
    const time = this.time.nowMs().toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${this.runIds.toString(16).padStart(12, '0')}`;
  }
}
