// Checks the path to which a browser is redirected after it has signed in: it must be on this server.
import { isValidTarget } from './request-target.ts';

const SEGMENT = String.raw`(?:[\w.~!'()*-]|%[0-9A-Fa-f]{2})+`;
const LOCAL_PATH = new RegExp(String.raw`^/(${SEGMENT}(/${SEGMENT})*)?(\?[A-Za-z0-9._~%&=+:,-]*)?$`);
const MAX_LENGTH = 2000;

/** The path, or `/` when it could lead to another server: with two slashes at its beginning, a backslash or a scheme. */
export function localPath(text: string): string {
  return text.length <= MAX_LENGTH && LOCAL_PATH.test(text) && isValidTarget(text) ? text : '/';
}
