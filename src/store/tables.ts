// The tables of the store: the only definition of their columns. The types of kysely and the statements that create the
// tables in both engines follow from it. The README of this folder lists the columns that are stable.
import type { Generated, Kysely } from 'kysely';
import type { Action, Kind } from '../core/catalog.ts';
import type { OperationStatus, RunMode, RunStatus, Trigger } from '../core/journal.ts';
import type { NoticeType } from '../core/notice.ts';
import type { Operator, RecordedAction } from '../core/operator.ts';

/** The version of the schema: `user_version` in SQLite, `store_version` in PostgreSQL. */
export const SCHEMA_VERSION = 3;

/** `sequence`: the primary key of a table whose rows the engine counts. */
type ColumnType = 'text' | 'integer' | 'blob' | 'sequence';

interface Column<Value> {
  readonly type: ColumnType;
  readonly isRequired: boolean;
  readonly initial?: string | number;
  /** The type of its values for kysely; has no value. */
  readonly values?: Value;
}

export interface Table {
  readonly columns: Readonly<Record<string, Column<unknown>>>;
  readonly key: readonly string[];
  readonly unique?: readonly string[];
  readonly references?: Readonly<Record<string, string>>;
  /** Columns, and perhaps a condition, of each index. */
  readonly indexes?: Readonly<Record<string, string>>;
}

const text = <Value extends string = string>(): Column<Value> => ({ type: 'text', isRequired: true });
const textOrEmpty = (): Column<Generated<string>> => ({ type: 'text', isRequired: true, initial: '' });
const integer = (): Column<number> => ({ type: 'integer', isRequired: true });
const blob = (): Column<Uint8Array> => ({ type: 'blob', isRequired: true });
const sequence = (): Column<Generated<number>> => ({ type: 'sequence', isRequired: true });
const count = (): Column<Generated<number>> => ({ type: 'integer', isRequired: true, initial: 0 });
const optionalText = <Value extends string = string>(): Column<Value | null> => ({
  type: 'text',
  isRequired: false,
});
const optionalInteger = (): Column<number | null> => ({ type: 'integer', isRequired: false });

export const TABLES = {
  accounts: {
    columns: {
      name: text(),
      base_url: optionalText(),
      remote_account_id: optionalText(),
      paused: count(),
      paused_at: optionalText(),
      paused_by: optionalText(),
      paused_reason: optionalText(),
      pending_digest: optionalText(),
      pending_run: optionalText(),
      pending_since: optionalText(),
      approved_digest: optionalText(),
      approved_at: optionalText(),
      approved_by: optionalText(),
      consecutive_failures: count(),
      last_run_id: optionalText(),
      last_success_at: optionalText(),
      // What the last plan left to do; null until a run plans.
      remaining_creates: optionalInteger(),
      remaining_deletes: optionalInteger(),
      last_good_run: optionalText(),
      last_good_phase: optionalText(),
      // The lines of `allowedDeletes` that released a run: of each its last day, its number and the run.
      released_runs: optionalText(),
      throttled_until: optionalText(),
      last_applied_commit: optionalText(),
      last_applied_committed_at: optionalText(),
      // When it is due, why, and which operator requested that.
      due_at: optionalText(),
      due_reason: optionalText<Trigger>(),
      due_by: optionalText(),
      // The latest tick of its schedule that made it due, or that was skipped; null until a daemon knows the account.
      ticked_at: optionalText(),
      // The process that runs it, until when if it does not renew that, its run, and a digest of the token that it uses.
      lease_holder: optionalText(),
      lease_until: optionalText(),
      lease_run: optionalText(),
      lease_token: optionalText(),
    },
    key: ['name'],
    unique: ['lease_token'],
    indexes: {
      accounts_due: '(name) where due_at is not null or lease_run is not null',
      accounts_by_remote: '(base_url, remote_account_id)',
    },
  },
  plan_bodies: { columns: { digest: text(), body: blob() }, key: ['digest'] },
  runs: {
    columns: {
      id: text(),
      account: text(),
      remote_account_id: optionalText(),
      trigger: text<Trigger>(),
      // Who started it; null for the schedule.
      actor: optionalText(),
      mode: text<RunMode>(),
      status: text<RunStatus>(),
      started_at: text(),
      finished_at: optionalText(),
      config_digest: optionalText(),
      config_commit: optionalText(),
      config_dirty: optionalInteger(),
      config_authored_at: optionalText(),
      config_author: optionalText(),
      config_subject: optionalText(),
      plan_digest: optionalText(),
      created: count(),
      deleted: count(),
      held: count(),
      kept: count(),
      failed: count(),
      requests: count(),
      retries: count(),
      error_code: optionalText(),
      error: optionalText(),
      warnings: optionalText(),
      plan_body: optionalText(),
      planned_creates: optionalInteger(),
      planned_deletes: optionalInteger(),
      holder_host: optionalText(),
      holder_pid: optionalInteger(),
    },
    key: ['id'],
    references: { plan_body: 'plan_bodies (digest)' },
    indexes: {
      runs_by_account: '(account, started_at desc)',
      runs_by_start: '(started_at desc)',
      runs_running: "(account) where status = 'running'",
      runs_by_plan_body: '(plan_body)',
      runs_by_status: '(status, started_at desc)',
    },
  },
  operations: {
    columns: {
      run_id: text(),
      seq: integer(),
      kind: text<Kind>(),
      action: text<Action>(),
      name: text(),
      remote_id: optionalText(),
      status: text<OperationStatus>(),
      rule: optionalText(),
      reason: optionalText(),
      attempts: count(),
      http_status: optionalInteger(),
      started_at: optionalText(),
      finished_at: optionalText(),
      settled_by: optionalText(),
      // 1 for a create that the service answered with an older entry, so that nothing was created.
      existed: count(),
    },
    key: ['run_id', 'seq'],
    references: { run_id: 'runs (id) on delete cascade' },
    indexes: {
      operations_by_end: '(finished_at) where finished_at is not null',
      operations_doubtful: "(run_id) where status in ('sent', 'unknown') and settled_by is null",
    },
  },
  snapshot_bodies: { columns: { digest: text(), body: blob() }, key: ['digest'] },
  snapshots: {
    columns: {
      id: sequence(),
      run_id: text(),
      account: text(),
      phase: text<'before' | 'after'>(),
      kind: text<Kind | 'resource'>(),
      taken_at: text(),
      digest: text(),
      entries: integer(),
    },
    key: ['id'],
    unique: ['run_id, phase, kind'],
    references: { run_id: 'runs (id) on delete cascade', digest: 'snapshot_bodies (digest)' },
    indexes: { snapshots_by_digest: '(digest)' },
  },
  entries: {
    columns: {
      account: text(),
      remote_account_id: textOrEmpty(),
      kind: text<Kind>(),
      remote_id: text(),
      name: text(),
      requested_name: optionalText(),
      first_seen_run: optionalText(),
      // 1 when the lists that were read after the run's operations were the first to show it.
      first_seen_after: count(),
      created_by_run: optionalText(),
      adopted_by_run: optionalText(),
      last_seen_run: optionalText(),
      deleted_by_run: optionalText(),
      // When a list last showed somebody with it, or lacked a person, or the field of one, who had it in the list before.
      last_used_at: optionalText(),
      // The line of `allowedDeletes` that released its delete, and releases no other entry: the last day and the name.
      released_as: optionalText(),
    },
    key: ['account', 'remote_account_id', 'kind', 'remote_id'],
    // Finds an entry that another account has.
    indexes: { entries_by_remote_id: '(remote_id, kind, remote_account_id)' },
  },
  // The state of each account that each target was last notified of. A target is a digest, never an address.
  notice_states: {
    columns: {
      target: text(),
      account: text(),
      states: text(),
      as_of: text(),
    },
    key: ['target', 'account'],
  },
  // Notices: open until they are delivered, or until `failed_at`, when no further attempt is made.
  notices: {
    columns: {
      seq: sequence(),
      id: text(),
      target: text(),
      account: text(),
      run_id: text(),
      type: text<NoticeType | 'status'>(),
      config_commit: optionalText(),
      // The id of the first notice of the message that contains this one; set when its first attempt fails.
      message_id: optionalText(),
      body: text(),
      created_at: text(),
      attempts: count(),
      next_attempt_at: text(),
      delivered_at: optionalText(),
      failed_at: optionalText(),
      error: optionalText(),
    },
    key: ['seq'],
    unique: ['id', 'target, run_id, type'],
    indexes: {
      notices_open: '(target, account, seq) where delivered_at is null and failed_at is null',
    },
  },
  // The commands of operators, kept as long as runs are.
  operator_actions: {
    columns: {
      seq: sequence(),
      account: text(),
      at: text(),
      action: text<RecordedAction>(),
      by: text(),
      via: text<Operator['via']>(),
      detail: optionalText(),
    },
    key: ['seq'],
    indexes: { operator_actions_by_account: '(account, seq desc)' },
  },
  // Values of the program itself, such as the key of sessions.
  settings: { columns: { name: text(), value: text() }, key: ['name'] },
} as const satisfies Readonly<Record<string, Table>>;

type Definitions = typeof TABLES;
type ValueOf<C> = C extends Column<infer Value> ? Value : never;

export type Tables = {
  [Name in keyof Definitions]: {
    -readonly [Key in keyof Definitions[Name]['columns']]: ValueOf<Definitions[Name]['columns'][Key]>;
  };
};

export type RunsTable = Tables['runs'];
export type OperationsTable = Tables['operations'];

/** The store, or one connection to it in a transaction. */
export type Database = Kysely<Tables>;
