// Writes the list of the packages that users get (CycloneDX), for `npm pack`: those in the files of dist/, and those that
// npm installs. It is made from the lock file, so that it contains the packages of every Node.js version and has the same
// bytes on every machine.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledIn } from './third-party.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [output = `${root}sbom.cdx.json`] = process.argv.slice(2);

// The settings that npm passes to this script, such as its project folder, would apply to the other folder too.
const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key)));

function npm(cwd, ...args) {
  return execFileSync('npm', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** `npm sbom --omit=dev` leaves out packages that a development package needs too, so `manifest` must have none. */
function sbomOf({ name, ...manifest }) {
  const temporary = mkdtempSync(join(tmpdir(), 'rolecall-sbom-'));
  try {
    // npm takes the component's name from the folder.
    const folder = join(temporary, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, ...manifest }));
    cpSync(`${root}package-lock.json`, join(folder, 'package-lock.json'));
    npm(folder, 'install', '--package-lock-only', '--offline', '--ignore-scripts');
    return JSON.parse(
      npm(folder, 'sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'),
    );
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

const {
  devDependencies,
  scripts: _none,
  ...manifest
} = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const bundled = bundledIn(readFileSync(`${root}dist/THIRD-PARTY-NOTICES`, 'utf8'));
const bundledNames = new Set(bundled.map(({ name }) => name));
const dependencies = Object.fromEntries(
  Object.entries(devDependencies).filter(([name]) => bundledNames.has(name)),
);
const { serialNumber: _random, metadata, components, ...rest } = sbomOf({ ...manifest, dependencies });
const { timestamp: _now, ...origin } = metadata;

const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
const installed = Object.entries(packages)
  .filter(([path, { dev }]) => path !== '' && dev !== true)
  .map(([path, { name = path.replace(/.*node_modules\//, ''), version }]) => ({ name, version }));
// A bundled package may need others that are not bundled, because none of their code is used.
const shipped = new Set([...installed, ...bundled].map(({ name, version }) => `${name}@${version}`));
const isShipped = (ref) => shipped.has(ref) || ref === origin.component['bom-ref'];

// The address of a registry, where the lock file has it.
const withoutRegistry = (it) => ({
  ...it,
  externalReferences: it.externalReferences.filter(({ type }) => type !== 'distribution'),
});
const sbom = {
  ...rest,
  metadata: origin,
  components: components.filter((it) => isShipped(it['bom-ref'])).map(withoutRegistry),
  dependencies: rest.dependencies
    .filter(({ ref }) => isShipped(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isShipped) })),
};
writeFileSync(output, `${JSON.stringify(sbom, null, 2)}\n`);
