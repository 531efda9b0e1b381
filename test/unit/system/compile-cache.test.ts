// Compiled code is kept only where nobody else can write, since Node.js executes it.
import { chmodSync, chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { cacheFolder } from '../../../src/system/runtime.ts';
import { makeFolder } from '../../support/folder.ts';

const isRoot = process.getuid?.() === 0;

test('compiled code is kept in a folder below the cache of the user that only the user can open', () => {
  const home = makeFolder();
  const folder = cacheFolder({ HOME: home });
  expect(folder).toBe(path.join(home, '.cache/rolecall'));
  expect(statSync(folder ?? '').mode & 0o777).toBe(0o700);
  expect(cacheFolder({ HOME: '/nowhere', XDG_CACHE_HOME: home })).toBe(path.join(home, 'rolecall'));
});

test.each([
  {},
  { HOME: '' },
  { HOME: 'relative' },
  { HOME: '/proc/nowhere' },
  { HOME: '/etc/passwd/nobody' },
])('compiled code is not kept without a usable home: %j', (env) => {
  expect(cacheFolder(env)).toBeUndefined();
});

test('compiled code is not kept when the cache of the user is a file', () => {
  const home = makeFolder();
  writeFileSync(path.join(home, '.cache'), '');
  expect(cacheFolder({ HOME: home })).toBeUndefined();
});

test.each(
  [0o770, 0o707, 0o777].flatMap((mode) => ['.cache', '.cache/rolecall'].map((item) => [item, mode] as const)),
)('compiled code is not kept when the mode of %s is %o', (item, mode) => {
  const home = makeFolder();
  mkdirSync(path.join(home, '.cache/rolecall'), { recursive: true });
  chmodSync(path.join(home, item), mode);
  expect(cacheFolder({ HOME: home })).toBeUndefined();
});

test('a home that does not exist is not created', () => {
  const home = path.join(makeFolder(), 'nobody');
  expect(cacheFolder({ HOME: home })).toBeUndefined();
  expect(existsSync(home)).toBe(false);
});

test.skipIf(!isRoot)('compiled code is not kept in a folder of another user', () => {
  const home = makeFolder();
  mkdirSync(path.join(home, '.cache/rolecall'), { recursive: true });
  chownSync(path.join(home, '.cache/rolecall'), 65534, 65534);
  expect(cacheFolder({ HOME: home })).toBeUndefined();
});

test.skipIf(!isRoot)(
  'root keeps no compiled code in the home of another user, and creates nothing there',
  () => {
    const home = makeFolder();
    chownSync(home, 65534, 65534);
    expect(cacheFolder({ HOME: home })).toBeUndefined();
    expect(existsSync(path.join(home, '.cache'))).toBe(false);
  },
);

test('compiled code is kept in a home that others can write to only if they cannot rename what is in it', () => {
  const home = makeFolder();
  chmodSync(home, 0o777);
  expect(cacheFolder({ HOME: home })).toBeUndefined();
  chmodSync(home, 0o1777);
  expect(cacheFolder({ HOME: home })).toBe(path.join(home, '.cache/rolecall'));
});
