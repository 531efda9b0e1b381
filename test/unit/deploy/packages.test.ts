// The promises of package.json and package-lock.json: what an installation downloads, compiles and runs.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { jsonOf, Node, pathOf } from './operational-file.ts';

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
  // `npm install` undoes this when it writes the lock file; then run `npm run lock`.
  const scripted = packages.filter(([, it]) => it.at('hasInstallScript').value === true);
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

it('the SBOM in the package lists every package that users install, with its checksum and licence', () => {
  expect(jsonOf('package.json').at('files').value).toContain('sbom.cdx.json');
  expect(jsonOf('package.json').at('scripts', 'prepack').value).toBe('node test/support/make-sbom.mjs');
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
  expect(listed.map((it) => it.at('name').value)).not.toContain('vitest');
});

it('the SBOM in the package names neither this machine, nor a registry, nor the time at which it was made', () => {
  expect(sbomText).not.toContain(pathOf('').replace(/\/$/, ''));
  expect(sbomText).not.toContain(`"${hostname()}`);
  expect(sbomText).not.toMatch(/registry|timestamp|serialNumber|"distribution"|file:/);
});
