// Damages a store as a disk does: the pages of a table are overwritten, and nothing else.
import { closeSync, openSync, writeSync } from 'node:fs';
import { SQLite } from '../../src/system/sqlite.ts';

/** Overwrites the root page of a table of a store that no process has open. */
export function damageTable(file: string, table: string): void {
  const db = new SQLite(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const pageSize = Number(db.pragma('page_size', { simple: true }));
  const page = Number(db.prepare('select rootpage from sqlite_schema where name = ?').pluck().get(table));
  db.close();
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(pageSize, 0xa5), 0, pageSize, (page - 1) * pageSize);
  closeSync(descriptor);
}
