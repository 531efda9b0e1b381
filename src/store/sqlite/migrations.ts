// The schema of the store as a list of steps. `user_version` counts the steps; a step that has shipped never changes.
// The README of this folder lists the stable columns; the others may change with any version.

export const MIGRATIONS: readonly string[] = [
  `
  create table accounts (
    name text primary key,
    base_url text,
    remote_account_id text,
    paused integer not null default 0,
    pending_digest text,
    approved_digest text,
    consecutive_failures integer not null default 0,
    last_run_id text,
    last_good_run text,
    last_good_phase text,
    throttled_until text,
    last_applied_commit text,
    last_applied_committed_at text
  ) strict;

  create table runs (
    id text primary key,
    account text not null,
    remote_account_id text,
    trigger text not null,
    mode text not null,
    status text not null,
    started_at text not null,
    finished_at text,
    config_digest text,
    config_commit text,
    plan_digest text,
    created integer not null default 0,
    deleted integer not null default 0,
    held integer not null default 0,
    kept integer not null default 0,
    failed integer not null default 0,
    requests integer not null default 0,
    retries integer not null default 0,
    error_code text,
    error text,
    warnings text,
    plan_body text references plan_bodies (digest),
    holder_host text,
    holder_pid integer
  ) strict;
  create index runs_by_account on runs (account, started_at desc);
  create index runs_by_start on runs (started_at desc);
  create index runs_running on runs (account) where status = 'running';
  create index runs_by_plan_body on runs (plan_body);

  create table plan_bodies (
    digest text primary key,
    body blob not null
  ) strict;

  create table operations (
    run_id text not null references runs (id) on delete cascade,
    seq integer not null,
    kind text not null,
    action text not null,
    name text not null,
    remote_id text,
    status text not null,
    rule text,
    reason text,
    attempts integer not null default 0,
    http_status integer,
    started_at text,
    finished_at text,
    settled_by text,
    primary key (run_id, seq)
  ) strict, without rowid;
  create index operations_by_end on operations (finished_at) where finished_at is not null;
  create index operations_doubtful on operations (run_id)
    where status in ('sent', 'unknown') and settled_by is null;

  create table snapshot_bodies (
    digest text primary key,
    body blob not null
  ) strict;

  create table snapshots (
    id integer primary key,
    run_id text not null references runs (id) on delete cascade,
    account text not null,
    phase text not null,
    kind text not null,
    taken_at text not null,
    digest text not null references snapshot_bodies (digest),
    entries integer not null,
    unique (run_id, phase, kind)
  ) strict;
  create index snapshots_by_digest on snapshots (digest);

  create table entries (
    account text not null,
    remote_account_id text not null default '',
    kind text not null,
    remote_id text not null,
    name text not null,
    requested_name text,
    first_seen_run text,
    first_seen_after integer not null default 0,
    created_by_run text,
    adopted_by_run text,
    last_seen_run text,
    deleted_by_run text,
    unused_since text,
    primary key (account, remote_account_id, kind, remote_id)
  ) strict, without rowid;

  create table missing_holdings (
    account text not null,
    resource_id text not null,
    kind text not null,
    remote_id text not null,
    since text not null,
    primary key (account, resource_id, kind, remote_id)
  ) strict, without rowid;

  create table locks (
    account text primary key,
    token text not null,
    run_id text not null,
    host text not null,
    pid integer not null,
    taken_at text not null,
    expires_at text not null
  ) strict;
  `,
  `
  alter table accounts add column pending_run text;
  alter table accounts add column pending_since text;
  alter table accounts add column approved_at text;
  alter table accounts add column last_success_at text;
  create index accounts_approved on accounts (name) where approved_digest is not null;

  alter table runs add column config_dirty integer;
  alter table runs add column config_authored_at text;
  alter table runs add column config_subject text;
  -- The number of later runs with the same result that compaction removed, and when the last of them ended.
  alter table runs add column folded integer not null default 0;
  alter table runs add column folded_until text;
  `,
  // The outbox of notifications.
  `
  create table notice_states (
    target text not null,
    account text not null,
    state text not null,
    fingerprint text not null,
    told_at text,
    as_of text not null,
    primary key (target, account)
  ) strict, without rowid;

  create table notices (
    seq integer primary key,
    id text not null unique,
    target text not null,
    account text not null,
    run_id text not null,
    type text not null,
    body text not null,
    created_at text not null,
    attempts integer not null default 0,
    next_attempt_at text not null,
    claimed_by text,
    claimed_until text,
    delivered_at text,
    failed_at text,
    error text,
    unique (target, run_id, type)
  ) strict;
  create index notices_open on notices (target, account, seq) where delivered_at is null and failed_at is null;
  create index notices_claimed on notices (claimed_by) where claimed_by is not null;
  create index notices_failed on notices (failed_at) where failed_at is not null;
  `,
  // A digest of the token of the run that holds the lock, so that a copied token is detected.
  `
  alter table locks add column token_key text;

  -- 1 for a create that the service answered with an older entry, so that nothing was created.
  alter table operations add column existed integer not null default 0;
  update operations set existed = 1
  where reason = 'the service answered with an entry that was there already'
    and run_id in (
      select run_id from operations where status in ('sent', 'unknown') and settled_by is null
      union select id from runs where status = 'running');
  `,
  // Who paused and approved, and the commands of operators.
  `
  alter table accounts add column paused_at text;
  alter table accounts add column paused_by text;
  alter table accounts add column paused_reason text;
  alter table accounts add column approved_by text;

  create table operator_actions (
    seq integer primary key,
    account text not null,
    at text not null,
    action text not null,
    by text not null,
    via text not null,
    detail text
  ) strict;
  create index operator_actions_by_account on operator_actions (account, seq desc);
  `,
  // What the plan of each run would do, for charts, and what the last plan of each account left to do. null until a run of
  // this version plans.
  `
  alter table runs add column planned_creates integer;
  alter table runs add column planned_deletes integer;
  alter table runs add column people_affected integer;
  create index runs_by_status on runs (status, started_at desc);
  alter table accounts add column remaining_creates integer;
  alter table accounts add column remaining_deletes integer;
  `,
  // Values of the program itself, such as the key of sessions.
  `
  create table settings (
    name text primary key,
    value text not null
  ) strict;
  `,
  // When a list last showed somebody with an entry, instead of since when nobody has it. An entry that is in use was seen in
  // use by the last run that listed it.
  `
  alter table entries rename column unused_since to last_used_at;
  update entries set last_used_at = (select started_at from runs where runs.id = last_seen_run)
    where last_used_at is null;
  `,
  // The approval in git that released the delete of an entry, so that it releases no other entry.
  'alter table entries add column released_as text;',
  // Finds an entry that another account has.
  `
  create index entries_by_remote_id on entries (remote_id, kind, remote_account_id);
  `,
];
