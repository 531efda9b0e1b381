// The SQLite driver for this version of Node.js; `npm run test:node-versions` tests each version.
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { SQLite } from '../../../src/system/sqlite.ts';

const require = createRequire(import.meta.url);
const isOld = Number.parseInt(process.versions.node, 10) < 22;
const name = isOld ? 'better-sqlite3-12' : 'better-sqlite3';

it('the SQLite driver is version 12 before Node.js 22, and version 13 from then on', () => {
  const { version } = require(`${name}/package.json`) as { version: string };
  expect(version).toMatch(isOld ? /^12\./ : /^13\./);
  expect(SQLite).toBe(require(name));
});
