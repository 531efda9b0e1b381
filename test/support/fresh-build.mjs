// Builds dist/ when a source is newer. `npm ci` runs this file in a clone, and the tests call it once before they start,
// so that no test runs an old program.
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const SOURCES = [
  'src',
  'package-lock.json',
  ...['build.mjs', 'third-party.mjs', 'write-schemas.ts'].map((name) => `test/support/${name}`),
];

function newestMs(item) {
  const found = statSync(item);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(found.mtimeMs, ...readdirSync(item).map((name) => newestMs(join(item, name))));
}

function builtMs() {
  return statSync(join(root, 'dist/main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Builds if needed, and returns whether it was. The build checks the SQLite driver. */
function build() {
  if (Math.max(...SOURCES.map((source) => newestMs(join(root, source)))) <= builtMs()) return false;
  console.log('dist/ is older than src/, so the program is built first');
  execFileSync(process.execPath, [join(root, 'test/support/build.mjs')], { cwd: root, stdio: 'inherit' });
  return true;
}

export function setup() {
  build();
}

/** npm installs a git URL globally without the development dependencies, which the build needs. */
function refuseWithoutTools() {
  try {
    import.meta.resolve('rolldown');
  } catch {
    console.error(
      'rolecall cannot be built here, since its development dependencies are not installed. npm leaves them out when it installs a git URL globally: run `npm pack --allow-git=all git+URL` and install the file that it writes, or clone the repository and run `npm ci` and `npm link` in it.',
    );
    process.exit(1);
  }
}

if (process.argv[1] === import.meta.filename) {
  refuseWithoutTools();
  try {
    // A repeated installation may have left the driver out, although the program is built already.
    if (!build()) await (await import('./driver.mjs')).checkDriver();
  } catch (error) {
    if (error.status === undefined) throw error;
    // The build has shown its error: a stack trace would hide it.
    process.exitCode = 1;
  }
}
