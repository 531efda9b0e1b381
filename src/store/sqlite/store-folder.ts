// Creates the folder of the store, one level at a time: Node's recursive mkdir never returns on file systems such as /proc.
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { errorCode } from '../../core/error-code.ts';
import { StoreError } from '../../core/errors.ts';

/** Creates the folder of a store and its missing parents (mode 0700). Throws a StoreError that names the store. */
export function makeStoreFolder(file: string): void {
  const folder = dirname(resolve(file));
  const existing = deepestExisting(folder);
  if (!statSync(existing).isDirectory()) throw unusable(file, `${existing} is not a folder`);
  let next = existing;
  for (const name of relative(existing, folder).split(sep).filter(Boolean)) {
    next = join(next, name);
    try {
      mkdirSync(next, { mode: 0o700 });
    } catch (error) {
      const code = errorCode(error);
      // Another process may create the same folder at the same time.
      if (code !== 'EEXIST') throw unusable(file, `the folder ${next} cannot be created (${code})`);
    }
  }
}

function deepestExisting(folder: string): string {
  for (let path = folder; ; path = dirname(path)) {
    try {
      statSync(path);
      return path;
    } catch (error) {
      if (dirname(path) === path || !['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return path;
    }
  }
}

function unusable(file: string, why: string): StoreError {
  return new StoreError(
    'store_unopenable',
    `${file}: the store cannot be opened, because ${why}; check \`store:\` in rolecall.yaml`,
  );
}
