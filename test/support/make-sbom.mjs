// Writes the list of the packages that users install (CycloneDX), for `npm pack`. It is made of the lock file alone, so
// that it contains the packages of every Node.js version and has the same bytes on every machine.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [output = `${root}sbom.cdx.json`] = process.argv.slice(2);

// What the npm that runs this script hands down, its project's folder above all, would hold for the other folder too.
const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key)));

function npm(cwd, ...args) {
  return execFileSync('npm', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** `npm sbom --omit=dev` leaves out packages that a development package needs too, so those are removed first. */
function sbomOf({ name, devDependencies: _unwanted, scripts: _none, ...manifest }) {
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
  serialNumber: _random,
  metadata,
  components,
  ...rest
} = sbomOf(JSON.parse(readFileSync(`${root}package.json`, 'utf8')));
const { timestamp: _now, ...origin } = metadata;
// The address of a registry, where the lock file has it.
const withoutRegistry = (it) => ({
  ...it,
  externalReferences: it.externalReferences.filter(({ type }) => type !== 'distribution'),
});
const sbom = { ...rest, metadata: origin, components: components.map(withoutRegistry) };
writeFileSync(output, `${JSON.stringify(sbom, null, 2)}\n`);
