// What loading the configuration of many accounts costs: `npm run bench:config -- --accounts 10000`. Prints the
// milliseconds of processor time of the first load, and of a load after one file changed, as the median of seven.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createConfigurationSource } from '../../src/config/configuration-source.ts';
import { createCommitReader } from '../../src/git/commit-cache.ts';

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '10000' },
    names: { type: 'string', default: '20' },
  },
});

function list(key: string, prefix: string, count: number): string {
  const names = Array.from({ length: count }, (_, index) => `  - ${prefix} number ${index}\n`);
  return count === 0 ? '' : `${key}:\n${names.join('')}`;
}

function account(index: number, mode: string): string {
  return [
    `region: eu\ntoken: { env: TOKEN_${index} }\nmode: ${mode}\nschedule: "${index % 60} * * * *"\n`,
    'extends: [../catalogs/shared.yaml]\n',
    list('skills', `Skill ${index}`, Number(values.names)),
  ].join('');
}

async function processorMs(job: () => Promise<unknown>): Promise<number> {
  const begin = process.cpuUsage();
  await job();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1000;
}

const folder = mkdtempSync(path.join(tmpdir(), 'rolecall-bench-'));
try {
  const write = (name: string, text: string): void => writeFileSync(path.join(folder, name), text);
  for (const name of ['accounts', 'catalogs']) mkdirSync(path.join(folder, name));
  write('rolecall.yaml', 'regions: { eu: "https://eu.example.com" }\n');
  write('catalogs/shared.yaml', list('skills', 'Shared skill', 100) + list('roles', 'Shared role', 50));
  for (let index = 0; index < Number(values.accounts); index += 1) {
    write(`accounts/account-${index}.yaml`, account(index, 'apply'));
  }
  const source = createConfigurationSource(path.join(folder, 'rolecall.yaml'), createCommitReader());
  const first = await processorMs(() => source.read());
  const again: number[] = [];
  for (let index = 0; index < 7; index += 1) {
    write(`accounts/account-${index}.yaml`, account(index, 'plan'));
    again.push(await processorMs(() => source.read()));
  }
  const median = again.toSorted((a, b) => a - b)[3] ?? 0;
  console.log(`first load: ${first.toFixed(0)} ms; after one file changed: ${median.toFixed(0)} ms`);
} finally {
  rmSync(folder, { recursive: true });
}
