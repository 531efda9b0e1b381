// Stores the accounts in SQLite, so that a sandbox restarted with the same file contains the same data.

import { chmodSync, closeSync, openSync } from 'node:fs';
import { SQLite } from '../system/sqlite.ts';
import { SandboxError } from './check.ts';
import type { SeedAccount, SeedEntry, SeedResource } from './seed.ts';

const VERSION = 2;
const APPLICATION_ID = 0x70_73_62_78; // "psbx": without it, a database of another program could be overwritten

const SCHEMA = `
  CREATE TABLE records (
    position INTEGER PRIMARY KEY, account TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
    UNIQUE (account, kind, id)
  ) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`;

/** An account and its token. The token alone decides on which account a request acts. */
export type AccountIdentity = Readonly<Required<Pick<SeedAccount, 'name' | 'id' | 'token' | 'region'>>>;
/** A skill or a role. */
export type SandboxEntry = Required<SeedEntry>;
/** A person: what a seed gives, with ids instead of names. */
export type ResourceRecord = Required<Omit<SeedResource, 'role' | 'skills' | 'roleId'>> & {
  readonly roleId: string | null;
};

/** What is stored, by its kind. An account is a record of no account, and its name is its id. */
interface Records {
  readonly account: AccountIdentity;
  readonly skill: SandboxEntry;
  readonly role: SandboxEntry;
  readonly resource: ResourceRecord;
}

function prepare(database: SQLite.Database): void {
  database.pragma('locking_mode = EXCLUSIVE');
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  const version = Number(database.pragma('user_version', { simple: true }));
  const owner = Number(database.pragma('application_id', { simple: true }));
  const tables = database.prepare<[], { n: number }>('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0;
  if (owner === APPLICATION_ID && version === VERSION) return;
  if (owner !== 0 || version !== 0 || tables > 0) {
    throw new SandboxError(
      'file',
      'the file is not a sandbox data file of this version; choose another file',
    );
  }
  database.transaction(() => database.exec(SCHEMA)).exclusive();
}

function open(file: string | undefined): SQLite.Database {
  let database: SQLite.Database | undefined;
  try {
    // Created before SQLite opens it: the files beside it get its mode.
    if (file !== undefined) closeSync(openSync(file, 'a', 0o600));
    database = new SQLite(file ?? ':memory:', { timeout: 200 });
    prepare(database);
    if (file !== undefined) chmodSync(file, 0o600);
    return database;
  } catch (cause) {
    database?.close();
    const why = cause instanceof Error ? cause.message : String(cause);
    const busy = cause instanceof SQLite.SqliteError && cause.code.startsWith('SQLITE_BUSY');
    const reason = busy ? 'another sandbox uses this file; stop that sandbox or choose another file' : why;
    throw new SandboxError(busy ? 'unavailable' : 'file', `data file ${file ?? ':memory:'}: ${reason}`, {
      cause,
    });
  }
}

/** The data of a sandbox: a file that only one process can open, or memory if no file is given. */
export class DataFile {
  private readonly database: SQLite.Database;
  private readonly insert: SQLite.Statement;

  /** Throws `SandboxError`: `unavailable` if another process uses the file, `file` if it is not a sandbox file. */
  constructor(file: string | undefined) {
    this.database = open(file);
    this.insert = this.database.prepare(
      'INSERT INTO records (account, kind, id, body) VALUES (?, ?, ?, ?) ON CONFLICT (account, kind, id) DO UPDATE SET body = excluded.body',
    );
  }

  /** In the order in which they were added. */
  records<K extends keyof Records>(account: string, kind: K): Records[K][] {
    const all = 'SELECT body FROM records WHERE account = ? AND kind = ? ORDER BY position';
    const rows = this.database.prepare<[string, string], { body: string }>(all).all(account, kind);
    return rows.map((row) => JSON.parse(row.body) as Records[K]); // written here
  }

  /** Adds the record, or replaces it and keeps its position. */
  put<K extends keyof Records>(account: string, kind: K, record: Records[K]): void {
    const id = account === '' && 'name' in record ? record.name : record.id;
    this.insert.run(account, kind, id, JSON.stringify(record));
  }

  remove(account: string, kind: keyof Records, id: string): void {
    const one = 'DELETE FROM records WHERE account = ? AND kind = ? AND id = ?';
    this.database.prepare(one).run(account, kind, id);
  }

  /** Does the work in one transaction. */
  transaction<T>(work: () => T): T {
    return this.database.transaction(work)();
  }

  close(): void {
    this.database.close();
  }
}
