// Completes package-lock.json after `npm install` has written it (`npm run lock`), so that each Node.js version installs
// its own SQLite driver and nothing is compiled where that is not needed. test/unit/deploy/packages.test.ts checks it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../../package-lock.json', import.meta.url));
const lock = JSON.parse(readFileSync(file, 'utf8'));

// npm leaves out an optional package whose engines exclude its Node.js. Version 12 itself claims to work everywhere.
lock.packages['node_modules/better-sqlite3-12'].engines.node = '<22';
// Version 13 carries its binaries and says so in its package.json, which `npm ci` does not read: it would call node-gyp,
// and without python3 or make it would leave the driver out.
lock.packages['node_modules/better-sqlite3'].gypfile = false;

writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
