// Completes the lock files after `npm install` has written them (`npm run lock`): each Node.js version installs its own
// SQLite driver, nothing is compiled where that is not needed, and no registry is named, so that each user's own is used.
// test/unit/deploy/packages.test.ts checks it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

function change(file, edit) {
  const lock = JSON.parse(readFileSync(root + file, 'utf8'));
  for (const each of Object.values(lock.packages)) delete each.resolved;
  edit(lock.packages);
  writeFileSync(root + file, `${JSON.stringify(lock, null, 2)}\n`);
}

change('package-lock.json', (packages) => {
  // npm leaves out an optional package whose engines exclude its Node.js. Version 12 itself claims to work everywhere.
  packages['node_modules/better-sqlite3-12'].engines.node = '<22';
  // Version 13 contains its binaries and declares that in its package.json, which `npm ci` does not read: it would call
  // node-gyp, and without python3 or make it would leave the driver out.
  packages['node_modules/better-sqlite3'].gypfile = false;
});
change('test/long/package-lock.json', () => undefined);
