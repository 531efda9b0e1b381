// Loads the SQLite driver for this version of Node.js. better-sqlite3 13 includes its binaries and needs Node.js 22.
// Version 12 is compiled during installation, works on Node.js 20, and aborts the process if it was compiled on 24.20
// or later.
import { createRequire } from 'node:module';
import type Driver from 'better-sqlite3';
import { StoreError } from '../core/errors.ts';

const require = createRequire(import.meta.url);
const isOld = Number.parseInt(process.versions.node, 10) < 22;
/** The package of the driver. */
export const DRIVER = isOld ? 'better-sqlite3-12' : 'better-sqlite3';

/** The driver, with the same interface in both versions. Throws StoreError at import when it is not installed. */
export const SQLite: typeof Driver = load();

export declare namespace SQLite {
  export type Database = Driver.Database;
  export type Statement = Driver.Statement;
}

function load(): typeof Driver {
  try {
    const driver = require(DRIVER) as typeof Driver; // its own types
    // The driver loads its binary when it first opens a database.
    new driver(':memory:').close();
    return driver;
  } catch (cause) {
    const advice = isOld
      ? 'install python3, make and a C++ compiler, let npm download the headers of Node.js (or name their folder in npm_config_nodedir, such as /usr), then install again without `--ignore-scripts` (`npm ci` in a clone); or use Node.js 22 or later, which needs none of them'
      : 'run `npm ci` with this Node.js, without --omit=optional';
    throw new StoreError(
      'sqlite_missing',
      `the SQLite driver for Node.js ${process.versions.node} cannot be loaded: ${advice}`,
      { cause },
    );
  }
}
