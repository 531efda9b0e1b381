// Runs a script in TypeScript, which Node.js 20 can't: bundles its files into node_modules/.rolecall and imports them.
// The folder is as deep as those of test/, so that addresses relative to a file stay true.
import { basename, isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'rolldown';

const folder = fileURLToPath(new URL('../../node_modules/.rolecall/', import.meta.url));

/** Imports the module `file` (an absolute path) with its relative imports; packages are imported where they are. */
export async function runTypescript(file) {
  const name = `${basename(file, '.ts')}.mjs`;
  await build({
    input: file,
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    output: { file: `${folder}${name}`, format: 'esm', codeSplitting: false },
    logLevel: 'warn',
  });
  return await import(pathToFileURL(`${folder}${name}`).href);
}
