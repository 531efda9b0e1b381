// The tables of the turns, which only PostgreSQL has: which account is due when, and which replica runs it.

export const TURN_TABLES = `
  -- It never starts again, also when an account is removed and returns.
  create sequence turn_epochs;

  -- The processes that run accounts. One that is dead stays dead: it registers under another id.
  create table replicas (
    id text collate "C" primary key,
    host text collate "C" not null,
    pid integer not null,
    version text collate "C" not null,
    started_at timestamptz not null,
    beat_at timestamptz not null,
    expires_at timestamptz not null,
    is_dead integer not null default 0,
    config_gen bigint not null default 0,
    config_commit text collate "C",
    config_digest text collate "C"
  );

  -- The commits of the configuration in the order in which they count. An account belongs to the one that changed it last.
  create table config_generations (
    gen bigint primary key,
    commit text collate "C" not null,
    committed_at text collate "C" not null,
    digest text collate "C",
    flaws integer not null default 0
  );

  create table turns (
    account text collate "C" primary key,
    -- The base address.
    lane text collate "C" not null,
    schedule text collate "C" not null,
    timezone text collate "C" not null,
    jitter_ms integer not null,
    config_digest text collate "C" not null,
    config_gen bigint not null,
    is_broken integer not null default 0,
    removed integer not null default 0,
    -- When the next run starts: the tick and its jitter, or at once. null while the account runs and nothing follows.
    due_at timestamptz,
    tick_at timestamptz,
    -- The trigger of the next run, when it is not the tick.
    requested text collate "C",
    last_tick_at timestamptz not null,
    backoff_until timestamptz,
    -- The approval that has started a run.
    approved_at text collate "C",
    epoch bigint not null default 0,
    holder text collate "C",
    held_for text collate "C",
    -- Since when the account of a held turn was due.
    claimed_due_at timestamptz
  ) with (fillfactor = 70);
  create index turns_due on turns (lane, due_at, account) where holder is null and due_at is not null;
  create index turns_held on turns (holder) where holder is not null;
`;
