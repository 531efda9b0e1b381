// The process itself: whose it is, compiled code that is kept between commands, and the memory of a process that lasts.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { hostname, userInfo } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';

/** Node.js 20 lacks the function, and its types do not declare it. */
const { enableCompileCache } = module as { readonly enableCompileCache?: (folder: string) => unknown };

/**
 * Keeps compiled code, where Node.js can (22 and later): loading the program takes a sixth less time. The folder belongs to the
 * user alone, because Node.js executes what it finds there. Without a home, or without a folder that is safe, nothing is kept. NODE_DISABLE_COMPILE_CACHE=1
 * turns it off.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv = process.env): void {
  if (enableCompileCache === undefined || env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return;
  const folder = cacheFolder(env);
  if (folder !== undefined) enableCompileCache(folder);
}

/** The folder for compiled code, created if needed; undefined when somebody else could write into it. */
export function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  const root = [env['XDG_CACHE_HOME'], env['HOME'] && path.join(env['HOME'], '.cache')].find(
    (place) => place !== undefined && path.isAbsolute(place),
  );
  const user = process.getuid?.();
  if (root === undefined || user === undefined) return undefined;
  const folder = path.join(root, 'rolecall');
  try {
    if (!isKept(path.dirname(root), user)) return undefined;
    return [root, folder].every((item) => isPrivate(item, user)) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether only the user and root can replace what is in a folder. Otherwise a command of root with the HOME of another user
 * would create folders of root there, which their owner could exchange for others.
 */
function isKept(folder: string, user: number): boolean {
  const { uid, mode } = statSync(folder);
  const isSticky = (mode & 0o1000) !== 0;
  return [user, 0].includes(uid) && (isSticky || (mode & 0o022) === 0);
}

/** Creates the folder if needed; its parent must exist. */
function isPrivate(folder: string, user: number): boolean {
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  const { uid, mode } = statSync(folder);
  return uid === user && (mode & 0o022) === 0;
}

/**
 * V8 lets the heap grow to up to four times what is in use before it collects all garbage. From this call on it collects
 * when the heap has grown by a quarter, which takes more time and much less memory. In a command, the space for new objects
 * keeps its size, too: a daemon would answer later during the run of a large account.
 */
export function keepHeapSmall(isCommand: boolean): void {
  setFlagsFromString('--heap-growing-percent=25');
  if (isCommand) setFlagsFromString('--semi-space-growth-factor=1');
}

/** `sam@host`: who runs this process. A user id without an entry in the user database has no name. */
export function userAtHost(): string {
  let user = `uid ${process.getuid?.() ?? 'unknown'}`;
  try {
    user = userInfo().username;
  } catch {
    // The id is used.
  }
  return `${user}@${hostname()}`;
}
