// Where secrets are found, in settings: paths made absolute, and equality.
import path from 'node:path';
import type { SecretRef } from '../core/settings.ts';

/** `ref` with its path made absolute, relative to the folder of the file that it is in. */
export function absoluteRef(ref: SecretRef, folder: string): SecretRef {
  return 'env' in ref ? { env: ref.env } : { file: path.resolve(folder, ref.file) };
}

/** The same text for references to the same place. */
export function refKey(ref: SecretRef): string {
  return 'env' in ref ? `env ${ref.env}` : `file ${ref.file}`;
}

/** The password of `user:password`; git takes either. Else the value itself. */
export function passwordOf(value: string): string {
  return value.slice(value.indexOf(':') + 1);
}

/** A secret that the configuration refers to, with the place that refers to it. */
export interface SecretUse {
  readonly ref: SecretRef;
  /** What it is for, such as `token of acme-eu`. */
  readonly what: string;
  /** The account it belongs to; absent for the service's own. */
  readonly account?: string;
  /** It names the file of a private key, which another program reads: several lines, and never sent. */
  readonly isKeyFile?: boolean;
  /** The file as issues name it, with the position of the reference. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}
