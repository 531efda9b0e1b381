// What a command loads before its work: packages that it does not use would be most of the time of a short command.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { scene } from '../support/scene.ts';

/** The packages whose code V8 saw in a process that wrote its coverage into the folder. */
function packagesIn(folder: string): string[] {
  const files = readdirSync(folder).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      readonly result: readonly { readonly url: string }[];
    };
    return result.filter(({ url }) => url.startsWith('file:')).map(({ url }) => fileURLToPath(url));
  });
  const packages = files.flatMap((file) => sourcesOf(file)).flatMap((source) => packageOf(source) ?? []);
  return [...new Set(packages)].toSorted();
}

/** The files from which a file of dist/ was made; any other file is its own source. */
function sourcesOf(file: string): readonly string[] {
  if (!file.includes('/dist/')) return [file];
  try {
    return (JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { readonly sources: readonly string[] })
      .sources;
  } catch {
    return [file];
  }
}

function packageOf(source: string): string | undefined {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(source)?.[1];
}

const COMMAND_LINE = ['commander'];
const REPORTS = ['get-east-asian-width', 'hono', 'picocolors'];
const CONFIGURATION = ['yaml', 'zod'];
const STORE = ['better-sqlite3', 'better-sqlite3-12', 'bindings', 'file-uri-to-path', 'kysely'];
const SERVICE = ['eventemitter3', 'is-network-error', 'p-queue', 'p-retry', 'p-timeout', 'undici'];

test.each([
  [['--help'], COMMAND_LINE],
  [['validate'], [...COMMAND_LINE, ...REPORTS, ...CONFIGURATION]],
  [['history'], [...COMMAND_LINE, ...REPORTS, ...CONFIGURATION, ...STORE]],
  [
    ['apply', '--yes'],
    [...COMMAND_LINE, ...REPORTS, ...CONFIGURATION, ...STORE, ...SERVICE],
  ],
] as const)('rolecall %j loads no package that it does not use', async (args, allowed) => {
  const stage = await scene({ skills: ['Knitting'], file: 'skills: [Knitting]' });
  if (args[0] === 'history') await stage.run(['plan']);
  const coverage = join(stage.folder, 'coverage');
  const result = await stage.run(args, { asProcess: true, env: { NODE_V8_COVERAGE: coverage } });
  expect(result.status, result.stderr).toBe(0);
  const loaded = packagesIn(coverage);
  expect(loaded).toContain('commander');
  expect(loaded.filter((name) => !(allowed as readonly string[]).includes(name))).toEqual([]);
});
