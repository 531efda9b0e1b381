// Where `init` writes: the paths of a first configuration, and their files, of which none may exist.
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../core/error-code.ts';
import { StoreError, UsageError } from '../core/errors.ts';

export interface FirstPlace {
  /** The service file, absolute. */
  readonly configFile: string;
  /** Its folder. */
  readonly folder: string;
  /** The store, relative to the service file. */
  readonly store: string;
}

/** The place for a service file below `dir`. Throws UsageError when they contradict each other. */
export function firstPlace(configFile: string, dir: string | undefined): FirstPlace {
  if (dir !== undefined && path.isAbsolute(configFile)) {
    throw new UsageError(
      '--dir has no effect with the absolute path of --config (or ROLECALL_CONFIG); leave out one of them',
    );
  }
  const file = path.resolve(dir ?? '.', configFile);
  const folder = path.dirname(file);
  // The store is data, so it is not in the folder of the configuration unless that folder is the complete project.
  const store = path.basename(folder) === 'config' ? '../data/rolecall.db' : 'data/rolecall.db';
  return { configFile: file, folder, store };
}

/** The path as messages show it: relative to the working directory if it is below. */
export function shownFile(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative.split(path.sep)[0] === '..' || path.isAbsolute(relative) ? file : relative;
}

/** Throws UsageError when the service file exists, with how to add an account to it. */
export function refuseExistingConfiguration({ configFile }: FirstPlace): void {
  if (!existsSync(configFile)) return;
  throw new UsageError(
    `${shownFile(configFile)} exists already; init writes a first configuration and changes no file. To add an account, write its file with \`region\` or \`baseUrl\` and \`token\`, then run \`rolecall dump NAME --write\`. To start elsewhere, use --dir`,
  );
}

/** Throws UsageError when one of the other files exists: without a service file no command can use it. */
export function refuseExistingFiles(files: readonly string[]): void {
  const found = files.find((file) => existsSync(file));
  if (found === undefined) return;
  throw new UsageError(
    `${shownFile(found)} exists already, without a service file; init writes both and changes no file. Move it away, run init again, and copy what you need from it into the new file. To start elsewhere, use --dir`,
  );
}

/** Writes all files, or none: after a failure the files written so far are removed. Throws StoreError. */
export async function writeNewFiles(texts: ReadonlyMap<string, string>): Promise<void> {
  const written: string[] = [];
  for (const [file, text] of texts) {
    try {
      await mkdir(path.dirname(file), { recursive: true });
      // `wx` fails if the file exists by now.
      await writeFile(file, text, { flag: 'wx' });
      written.push(file);
    } catch (error) {
      await Promise.all(written.map((each) => rm(each, { force: true })));
      throw new StoreError(
        'output_failed',
        `${shownFile(file)} cannot be written (${errorCode(error)}); nothing was written. Check the permissions of the folder`,
      );
    }
  }
}
