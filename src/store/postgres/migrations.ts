// The schema of the store in PostgreSQL as a list of steps, counted in `store_version`; a step that has shipped never
// changes. The tables and columns are those of SQLite; a test compares them.

import { CONFIG_FILES, TURN_CLAIMS, TURN_TABLES } from './turn-tables.ts';

/** A step of the schema. */
export interface Migration {
  readonly statements: string;
  /** Whether programs of an earlier version cannot use the store after it: anything but new tables and optional columns. */
  readonly isBreaking: boolean;
}

const FIRST_TABLES = `
  -- Reads a JSON array of arrays as rows, as SQLite does. Marks what text cannot hold and JSON escapes; text.ts has marked
  -- the rest.
  create function json_each(list text) returns table (key integer, value jsonb) language sql immutable as $$
    select (position - 1)::integer, item
    from jsonb_array_elements(
      case when list ~ '\\\\u(0000|d[89a-f])'
        then regexp_replace(list,
          '(?<!\\\\)((?:\\\\\\\\)*)\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\1' || U&'\\FDD0' || '\\2', 'g')
        else list end::jsonb) with ordinality as items (item, position)
  $$;

  create table accounts (
    name text collate "C" primary key,
    base_url text collate "C",
    remote_account_id text collate "C",
    paused integer not null default 0,
    paused_at text collate "C",
    paused_by text,
    paused_reason text,
    pending_digest text collate "C",
    pending_run text collate "C",
    pending_since text collate "C",
    approved_digest text collate "C",
    approved_at text collate "C",
    approved_by text,
    consecutive_failures integer not null default 0,
    last_run_id text collate "C",
    last_success_at text collate "C",
    remaining_creates integer,
    remaining_deletes integer,
    last_good_run text collate "C",
    last_good_phase text collate "C",
    throttled_until text collate "C",
    last_applied_commit text collate "C",
    last_applied_committed_at text collate "C"
  ) with (fillfactor = 80);
  create index accounts_approved on accounts (name) where approved_digest is not null;
  create index accounts_by_remote on accounts (base_url, remote_account_id);

  create table plan_bodies (
    digest text collate "C" primary key,
    body bytea not null
  );
  -- It is compressed already.
  alter table plan_bodies alter column body set storage external;

  create table runs (
    -- The order in which runs began, which does not change when a clock is set back.
    rowid bigint generated always as identity unique,
    id text collate "C" primary key,
    account text collate "C" not null,
    remote_account_id text collate "C",
    trigger text collate "C" not null,
    mode text collate "C" not null,
    status text collate "C" not null,
    started_at text collate "C" not null,
    finished_at text collate "C",
    config_digest text collate "C",
    config_commit text collate "C",
    config_dirty integer,
    config_authored_at text collate "C",
    config_subject text,
    plan_digest text collate "C",
    created integer not null default 0,
    deleted integer not null default 0,
    held integer not null default 0,
    kept integer not null default 0,
    failed integer not null default 0,
    requests integer not null default 0,
    retries integer not null default 0,
    error_code text collate "C",
    error text,
    warnings text,
    plan_body text collate "C" references plan_bodies (digest),
    planned_creates integer,
    planned_deletes integer,
    people_affected integer,
    holder_host text collate "C",
    holder_pid integer,
    folded integer not null default 0,
    folded_until text collate "C"
  ) with (fillfactor = 80);
  create index runs_by_account on runs (account, started_at desc);
  create index runs_by_start on runs (started_at desc);
  create index runs_running on runs (account) where status = 'running';
  create index runs_by_plan_body on runs (plan_body);
  create index runs_by_status on runs (status, started_at desc);

  create table operations (
    run_id text collate "C" not null references runs (id) on delete cascade,
    seq integer not null,
    kind text collate "C" not null,
    action text collate "C" not null,
    name text collate "C" not null,
    remote_id text collate "C",
    status text collate "C" not null,
    rule text collate "C",
    reason text,
    attempts integer not null default 0,
    http_status integer,
    started_at text collate "C",
    finished_at text collate "C",
    settled_by text collate "C",
    existed integer not null default 0,
    primary key (run_id, seq)
  ) with (fillfactor = 70);
  create index operations_by_end on operations (finished_at) where finished_at is not null;
  create index operations_doubtful on operations (run_id)
    where status in ('sent', 'unknown') and settled_by is null;

  create table snapshot_bodies (
    digest text collate "C" primary key,
    body bytea not null
  );
  alter table snapshot_bodies alter column body set storage external;

  create table snapshots (
    id bigint generated by default as identity primary key,
    run_id text collate "C" not null references runs (id) on delete cascade,
    account text collate "C" not null,
    phase text collate "C" not null,
    kind text collate "C" not null,
    taken_at text collate "C" not null,
    digest text collate "C" not null references snapshot_bodies (digest),
    entries integer not null,
    unique (run_id, phase, kind)
  );
  create index snapshots_by_digest on snapshots (digest);

  create table entries (
    account text collate "C" not null,
    remote_account_id text collate "C" not null default '',
    kind text collate "C" not null,
    remote_id text collate "C" not null,
    name text collate "C" not null,
    requested_name text collate "C",
    first_seen_run text collate "C",
    first_seen_after integer not null default 0,
    created_by_run text collate "C",
    adopted_by_run text collate "C",
    last_seen_run text collate "C",
    deleted_by_run text collate "C",
    unused_since text collate "C",
    primary key (account, remote_account_id, kind, remote_id)
  ) with (fillfactor = 70);

  create table missing_holdings (
    account text collate "C" not null,
    resource_id text collate "C" not null,
    kind text collate "C" not null,
    remote_id text collate "C" not null,
    since text collate "C" not null,
    primary key (account, resource_id, kind, remote_id)
  );

  create table locks (
    account text collate "C" primary key,
    token text collate "C" not null,
    run_id text collate "C" not null,
    host text collate "C" not null,
    pid integer not null,
    taken_at text collate "C" not null,
    expires_at text collate "C" not null,
    token_key text collate "C"
  ) with (fillfactor = 50);
  create index locks_by_token_key on locks (token_key);

  create table notice_states (
    target text collate "C" not null,
    account text collate "C" not null,
    state text collate "C" not null,
    fingerprint text collate "C" not null,
    told_at text collate "C",
    as_of text collate "C" not null,
    primary key (target, account)
  );

  create table notices (
    seq bigint generated by default as identity primary key,
    id text collate "C" not null unique,
    target text collate "C" not null,
    account text collate "C" not null,
    run_id text collate "C" not null,
    type text collate "C" not null,
    body text not null,
    created_at text collate "C" not null,
    attempts integer not null default 0,
    next_attempt_at text collate "C" not null,
    claimed_by text collate "C",
    claimed_until text collate "C",
    delivered_at text collate "C",
    failed_at text collate "C",
    error text,
    unique (target, run_id, type)
  );
  create index notices_open on notices (target, account, seq) where delivered_at is null and failed_at is null;
  create index notices_claimed on notices (claimed_by) where claimed_by is not null;
  create index notices_failed on notices (failed_at) where failed_at is not null;

  create table operator_actions (
    seq bigint generated by default as identity primary key,
    account text collate "C" not null,
    at text collate "C" not null,
    action text collate "C" not null,
    by text not null,
    via text collate "C" not null,
    detail text
  );
  create index operator_actions_by_account on operator_actions (account, seq desc);

  create table settings (
    name text collate "C" primary key,
    value text not null
  );
  `;

export const MIGRATIONS: readonly Migration[] = [
  { statements: FIRST_TABLES, isBreaking: true },
  { statements: TURN_TABLES, isBreaking: true },
  {
    // `usable_from`: the oldest version whose programs may use the store. Those of versions before this do not read it.
    statements: `${TURN_CLAIMS} alter table store_version add column usable_from integer not null default 3;`,
    isBreaking: true,
  },
  { statements: CONFIG_FILES, isBreaking: false },
  {
    // When a list last showed somebody with an entry, instead of since when nobody has it. An entry that is in use was seen
    // in use by the last run that listed it.
    statements: `
      alter table entries rename column unused_since to last_used_at;
      update entries set last_used_at = (select started_at from runs where runs.id = last_seen_run)
        where last_used_at is null;`,
    isBreaking: true,
  },
  { statements: 'alter table entries add column released_as text collate "C";', isBreaking: false },
  {
    // Finds an entry that another account has.
    statements: 'create index entries_by_remote_id on entries (remote_id, kind, remote_account_id);',
    isBreaking: false,
  },
];

/** The oldest version whose programs may use a store of this version. */
export const USABLE_FROM = MIGRATIONS.findLastIndex(({ isBreaking }) => isBreaking) + 1;
