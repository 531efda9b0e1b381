// Runs a script in TypeScript, which Node.js 20 can't: `node test/support/run-typescript.mjs SCRIPT [ARGUMENT…]`. Its
// files are bundled into node_modules/.rolecall, which is as deep as the folders of test/, so that addresses relative
// to a file stay true; packages are imported where they are.
import { basename, isAbsolute, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'rolldown';

const [, , script] = process.argv;
const folder = fileURLToPath(new URL('../../node_modules/.rolecall/', import.meta.url));
const file = `${folder}${basename(script, '.ts')}.mjs`;
await build({
  input: resolve(script),
  platform: 'node',
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
  output: { file, format: 'esm', codeSplitting: false },
  logLevel: 'warn',
});
process.argv.splice(1, 1);
await import(pathToFileURL(file).href);
