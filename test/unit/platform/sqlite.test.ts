// The driver that fits the Node.js that runs this test; test/node-versions.mjs runs it on each of them.
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { SQLite } from '../../../src/platform/sqlite.ts';

const require = createRequire(import.meta.url);
const isOld = Number.parseInt(process.versions.node, 10) < 22;
const name = isOld ? 'better-sqlite3-12' : 'better-sqlite3';

it('the SQLite driver is version 12 before Node.js 22, and version 13 from then on', () => {
  const { version } = require(`${name}/package.json`) as { version: string };
  expect(version).toMatch(isOld ? /^12\./ : /^13\./);
  expect(SQLite).toBe(require(name));
});

it('a process survives the collection of its SQL statements', () => {
  // Version 12, compiled on Node.js 24.20 or later, aborts the process here.
  const database = new SQLite(':memory:');
  const total = Array.from({ length: 20_000 }, (_, index) =>
    Number(database.prepare(`select ${index}`).pluck().get()),
  ).reduce((sum, number) => sum + number, 0);
  database.close();
  expect(total).toBe(199_990_000);
});
