// The certificate authorities that a service's file names beside those of Node.
import { ConfigError } from '../core/errors.ts';
import { FileTrouble, readRegularFile } from '../platform/regular-file.ts';
import { shownPath } from './source-text.ts';

/** All authorities of the world have less. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The text of a PEM file. Throws ConfigError. */
export async function readAuthorities(file: string): Promise<string> {
  try {
    return (await readRegularFile(file, MAX_BYTES)).bytes.toString('utf8');
  } catch (error) {
    const code = error instanceof FileTrouble ? error.code : 'unknown';
    const message = `api.caFile cannot be read (${PROBLEMS[code] ?? code}); name a PEM file`;
    throw new ConfigError([{ file: shownPath(file), line: 1, column: 1, severity: 'error', message }]);
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  irregular: 'it is not a regular file',
  too_large: 'it has more than 4 MiB',
  too_slow: 'it did not answer within 5 s',
};
