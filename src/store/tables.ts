// The types of the tables for kysely. migrations.ts creates the tables.
import type { Generated, Kysely } from 'kysely';
import type { Action, Kind } from '../core/catalog.ts';
import type { OperationStatus, RunMode, RunStatus, Trigger } from '../core/journal.ts';
import type { NoticeType, AccountHealth } from '../core/notice.ts';
import type { Operator, OperatorAction } from '../core/operator.ts';

export interface AccountsTable {
  name: string;
  base_url: string | null;
  remote_account_id: string | null;
  paused: Generated<number>;
  paused_at: string | null;
  paused_by: string | null;
  paused_reason: string | null;
  pending_digest: string | null;
  pending_run: string | null;
  pending_since: string | null;
  approved_digest: string | null;
  approved_at: string | null;
  approved_by: string | null;
  consecutive_failures: Generated<number>;
  last_run_id: string | null;
  last_success_at: string | null;
  remaining_creates: number | null;
  remaining_deletes: number | null;
  last_good_run: string | null;
  last_good_phase: string | null;
  throttled_until: string | null;
  last_applied_commit: string | null;
  last_applied_committed_at: string | null;
}

export interface RunsTable {
  id: string;
  account: string;
  remote_account_id: string | null;
  trigger: Trigger;
  mode: RunMode;
  status: RunStatus;
  started_at: string;
  finished_at: string | null;
  config_digest: string | null;
  config_commit: string | null;
  config_dirty: number | null;
  config_authored_at: string | null;
  config_subject: string | null;
  plan_digest: string | null;
  created: Generated<number>;
  deleted: Generated<number>;
  held: Generated<number>;
  kept: Generated<number>;
  failed: Generated<number>;
  requests: Generated<number>;
  retries: Generated<number>;
  error_code: string | null;
  error: string | null;
  warnings: string | null;
  plan_body: string | null;
  planned_creates: number | null;
  planned_deletes: number | null;
  people_affected: number | null;
  holder_host: string | null;
  holder_pid: number | null;
  folded: Generated<number>;
  folded_until: string | null;
}

export interface OperationsTable {
  run_id: string;
  seq: number;
  kind: Kind;
  action: Action;
  name: string;
  remote_id: string | null;
  status: OperationStatus;
  rule: string | null;
  reason: string | null;
  attempts: Generated<number>;
  http_status: number | null;
  started_at: string | null;
  finished_at: string | null;
  settled_by: string | null;
  existed: Generated<number>;
}

export interface SnapshotsTable {
  id: Generated<number>;
  run_id: string;
  account: string;
  phase: 'before' | 'after';
  kind: Kind | 'resource';
  taken_at: string;
  digest: string;
  entries: number;
}

export interface EntriesTable {
  account: string;
  remote_account_id: Generated<string>;
  kind: Kind;
  remote_id: string;
  name: string;
  requested_name: string | null;
  first_seen_run: string | null;
  /** 1 when the lists that were read after the run's operations were the first to show it. */
  first_seen_after: Generated<number>;
  created_by_run: string | null;
  adopted_by_run: string | null;
  last_seen_run: string | null;
  deleted_by_run: string | null;
  last_used_at: string | null;
  /** The approval in git that released its delete: the last day and the name. */
  released_as: string | null;
}

/** The commands of operators, kept as long as runs are. */
export interface OperatorActionsTable {
  seq: Generated<number>;
  account: string;
  at: string;
  action: OperatorAction;
  by: string;
  via: Operator['via'];
  detail: string | null;
}

/** The state of each account that each target was last notified of. A target is a digest, never an address. */
export interface NoticeStatesTable {
  target: string;
  account: string;
  state: AccountHealth['state'];
  fingerprint: string;
  told_at: string | null;
  as_of: string;
}

/** Notices: open until they are delivered, or until `failed_at`, when no further attempt is made. */
export interface NoticesTable {
  seq: Generated<number>;
  id: string;
  target: string;
  account: string;
  run_id: string;
  type: NoticeType;
  body: string;
  created_at: string;
  attempts: Generated<number>;
  next_attempt_at: string;
  claimed_by: string | null;
  claimed_until: string | null;
  delivered_at: string | null;
  failed_at: string | null;
  error: string | null;
}

export interface Tables {
  accounts: AccountsTable;
  runs: RunsTable;
  operations: OperationsTable;
  plan_bodies: { digest: string; body: Uint8Array };
  snapshots: SnapshotsTable;
  snapshot_bodies: { digest: string; body: Uint8Array };
  entries: EntriesTable;
  missing_holdings: {
    account: string;
    resource_id: string;
    kind: Kind;
    remote_id: string;
    since: string;
  };
  locks: {
    account: string;
    token: string;
    run_id: string;
    host: string;
    pid: number;
    taken_at: string;
    expires_at: string;
    token_key: string | null;
  };
  operator_actions: OperatorActionsTable;
  notice_states: NoticeStatesTable;
  notices: NoticesTable;
  settings: { name: string; value: string };
}

/** The store, or one connection to it in a transaction. */
export type Database = Kysely<Tables>;
