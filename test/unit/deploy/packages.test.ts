// The promises of package.json and package-lock.json: what an installation downloads, compiles and runs.
import { expect, it } from 'vitest';
import { jsonOf } from './operational-file.ts';

const packages = jsonOf('package-lock.json').at('packages').entries();
const dependencies = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
  jsonOf('package.json').at(kind).entries(),
);

it('every package that is named in package.json is pinned to one version', () => {
  expect(dependencies.length).toBeGreaterThan(20);
  const loose = dependencies.filter(
    ([, { value }]) => !/^(npm:[a-z0-9-]+@)?\d+\.\d+\.\d+$/.test(String(value)),
  );
  expect(loose).toEqual([]);
});

it('nothing is compiled on Node.js 22 and later: the only package with an install script is for older ones', () => {
  // npm copies `engines` of a package into the lock file, and leaves out optional packages that it excludes. The range
  // of better-sqlite3 12 was narrowed there by hand. After an update of that package, write "<22" there again.
  const scripted = packages.filter(([, it]) => it.at('hasInstallScript').value === true);
  expect(
    scripted.map(([path, it]) => [path, it.at('engines', 'node').value, it.at('optional').value]),
  ).toEqual(expect.arrayContaining([['node_modules/better-sqlite3-12', '<22', true]]));
  // fsevents is for macOS only, and carries its binary.
  expect(scripted.map(([path]) => path).filter((path) => !path.endsWith('/fsevents'))).toHaveLength(1);
  const at13 = packages.find(([path]) => path === 'node_modules/better-sqlite3')?.[1];
  expect([at13?.at('engines', 'node').value, at13?.at('optional').value]).toEqual(['>=22', true]);
});
