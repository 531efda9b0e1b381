// Stores the accounts in SQLite, so that a sandbox restarted with the same file contains the same data.

import { chmodSync } from 'node:fs';
import { SQLite } from '../system/sqlite.ts';
import type { AccountIdentity, Kind, ResourceRecord, SandboxEntry } from './model.ts';
import { SandboxError } from './check.ts';

const VERSION = 1;
const APPLICATION_ID = 0x70_73_62_78; // "psbx": without it, a database of another program could be overwritten

const SCHEMA = `
  CREATE TABLE accounts (name TEXT PRIMARY KEY, id TEXT NOT NULL, token TEXT NOT NULL UNIQUE, region TEXT NOT NULL) STRICT;
  CREATE TABLE entries (
    position INTEGER PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts, kind TEXT NOT NULL, id TEXT NOT NULL,
    name TEXT NOT NULL, create_date TEXT NOT NULL, UNIQUE (account, id)
  ) STRICT;
  CREATE TABLE resources (
    position INTEGER PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts, id TEXT NOT NULL,
    body TEXT NOT NULL, UNIQUE (account, id)
  ) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`;

function prepare(database: SQLite.Database): void {
  database.pragma('locking_mode = EXCLUSIVE');
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.pragma('foreign_keys = ON');
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
  private readonly statements: ReturnType<typeof prepareStatements>;

  /** Throws `SandboxError`: `unavailable` if another process uses the file, `file` if it is not a sandbox file. */
  constructor(file: string | undefined) {
    this.database = open(file);
    this.statements = prepareStatements(this.database);
  }

  accounts(): AccountIdentity[] {
    return this.statements.accounts.all();
  }

  entries(account: string): (SandboxEntry & { readonly kind: Kind })[] {
    return this.statements.entries.all(account);
  }

  resources(account: string): ResourceRecord[] {
    return this.statements.resources.all(account).map((row) => JSON.parse(row.body) as ResourceRecord); // written by putResource
  }

  addAccount(account: AccountIdentity): void {
    this.statements.addAccount.run(account.name, account.id, account.token, account.region);
  }

  addEntry(account: string, kind: Kind, entry: SandboxEntry): void {
    this.statements.addEntry.run(account, kind, entry.id, entry.name, entry.createDate);
  }

  renameEntry(account: string, id: string, name: string): void {
    this.statements.renameEntry.run(name, account, id);
  }

  removeEntry(account: string, id: string): void {
    this.statements.removeEntry.run(account, id);
  }

  /** Adds the resource, or replaces it and keeps its position. */
  putResource(account: string, resource: ResourceRecord): void {
    this.statements.putResource.run(account, resource.id, JSON.stringify(resource));
  }

  removeResource(account: string, id: string): void {
    this.statements.removeResource.run(account, id);
  }

  /** Does the work in one transaction. */
  transaction<T>(work: () => T): T {
    return this.database.transaction(work)();
  }

  close(): void {
    this.database.close();
  }
}

function prepareStatements(database: SQLite.Database) {
  return {
    accounts: database.prepare<[], AccountIdentity>(
      'SELECT name, id, token, region FROM accounts ORDER BY rowid',
    ),
    entries: database.prepare<[string], SandboxEntry & { readonly kind: Kind }>(
      'SELECT kind, id, name, create_date AS createDate FROM entries WHERE account = ? ORDER BY position',
    ),
    resources: database.prepare<[string], { body: string }>(
      'SELECT body FROM resources WHERE account = ? ORDER BY position',
    ),
    addAccount: database.prepare('INSERT INTO accounts (name, id, token, region) VALUES (?, ?, ?, ?)'),
    addEntry: database.prepare(
      'INSERT INTO entries (account, kind, id, name, create_date) VALUES (?, ?, ?, ?, ?)',
    ),
    renameEntry: database.prepare('UPDATE entries SET name = ? WHERE account = ? AND id = ?'),
    removeEntry: database.prepare('DELETE FROM entries WHERE account = ? AND id = ?'),
    putResource: database.prepare(
      'INSERT INTO resources (account, id, body) VALUES (?, ?, ?) ON CONFLICT (account, id) DO UPDATE SET body = excluded.body',
    ),
    removeResource: database.prepare('DELETE FROM resources WHERE account = ? AND id = ?'),
  };
}
