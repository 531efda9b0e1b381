// The demo: plans and applies an account that has drifted from its file, on a sandbox in this process. It runs the
// same commands as a user, and leaves a journal to read and no process.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyToAccounts } from '../cli/apply-accounts.ts';
import type { Environment } from '../cli/environment.ts';
import { EXIT } from '../cli/exit-status.ts';
import { planAccounts } from '../cli/plan-accounts.ts';
import { ACCEPT_NOTHING } from '../app/request.ts';
import { demoNames, demoSeed, readDemoExtract } from '../sandbox/demo-seed.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { startSandbox } from '../sandbox/sandbox.ts';

const TOKEN_VARIABLE = 'ROLECALL_DEMO_TOKEN';
const ACCOUNT = 'acme';

/** Runs the demo. Resolves with 0 when every step had the expected result. */
export async function playDemo(environment: Environment): Promise<number> {
  const extract = readDemoExtract(
    fileURLToPath(new URL('../config/demo/onet-extract.json', import.meta.url)),
  );
  const sandbox = await startSandbox({ seed: demoSeed(extract) });
  try {
    const folder = await mkdtemp(join(tmpdir(), 'rolecall-demo-'));
    const configure = (catalog: string): Promise<string> => writeConfiguration(folder, sandbox, catalog);
    process.env[TOKEN_VARIABLE] = sandbox.accounts[0]?.token ?? '';
    // A first plan before the drift makes history, since a plan on a fresh store holds every delete.
    const output = join(folder, 'first-plan.txt');
    const options = { format: 'text', output, detailedExitcode: false } as const;
    await planAccounts(
      { environment, configFile: await configure(catalogText(demoNames(extract), null)) },
      [],
      options,
    );
    const drift = introduceDrift(sandbox);
    return await runSteps(environment, await configure(catalogText(demoNames(extract), drift)), sandbox);
  } finally {
    await sandbox.close();
  }
}

async function runSteps(environment: Environment, configFile: string, sandbox: Sandbox): Promise<number> {
  const text = { format: 'text' } as const;
  heading('1. Dry run: what rolecall would create, delete and hold', `rolecall plan ${ACCOUNT}`);
  const planned = await planAccounts({ environment, configFile }, [], { ...text, detailedExitcode: true });

  heading('2. Apply: rolecall applies the plan, except the held changes', `rolecall apply ${ACCOUNT} --yes`);
  const applyOptions = { yes: true, allowHeld: true, lockTimeoutMs: 10_000, accept: ACCEPT_NOTHING };
  const applied = await applyToAccounts({ environment, configFile }, [], { ...text, ...applyOptions });

  const writesBefore = countWrites(sandbox);
  heading('3. Apply again: nothing remains to be written', `rolecall apply ${ACCOUNT} --yes`);
  const again = await applyToAccounts({ environment, configFile }, [], { ...text, ...applyOptions });
  const writes = countWrites(sandbox) - writesBefore;

  // The path of the running program, so that the commands can be copied.
  const program = `node ${process.argv[1] ?? 'dist/main.js'}`;
  process.stdout.write(
    [
      '',
      `The second apply sent ${writes} creates and deletes to the service.`,
      '',
      'The journal is in the store beside the configuration. To read it, run:',
      `  ${program} --config ${configFile} history`,
      `  ${program} --config ${configFile} show last`,
      'The names are from the O*NET database (USDOL/ETA, CC BY 4.0); the people are made up.',
      '',
    ].join('\n'),
  );
  return planned === EXIT.changes && applied === EXIT.done && again === EXIT.done && writes === 0 ? 0 : 1;
}

function heading(title: string, command: string): void {
  process.stdout.write(`\n━━ ${title}\n$ ${command}\n\n`);
}

function countWrites(sandbox: Sandbox): number {
  return sandbox.requests().filter(({ method }) => method !== 'GET').length;
}

/** How the account differs from its file. */
interface Drift {
  /** Desired names that were deleted by hand. */
  readonly missing: readonly string[];
  /** A rename in the file: the new name, and the old name, which people have. */
  readonly renamed: { readonly name: string; readonly formerly: string };
}

function introduceDrift(sandbox: Sandbox): Drift {
  const { skills, resources } = sandbox.state(ACCOUNT);
  const people = (id: string): number => resources.filter(({ skillsIds }) => skillsIds.includes(id)).length;
  const missing = skills.filter(({ id }) => people(id) === 0).slice(0, 3);
  for (const { id } of missing) sandbox.removeEntry(ACCOUNT, id);
  const [renamed, typo, duplicate] = skills.toSorted(
    (a, b) => people(b.id) - people(a.id) || (a.name < b.name ? -1 : 1),
  );
  if (renamed === undefined || typo === undefined || duplicate === undefined)
    throw new Error('the seed has no skills');

  sandbox.addSkill(ACCOUNT, 'Macromedia Flash');
  sandbox.addSkill(ACCOUNT, 'Netscape Navigator');
  const [first, second, third] = resources.map(({ id }) => id);
  const lotus = sandbox.addSkill(ACCOUNT, 'IBM Lotus 1-2-3');
  for (const id of [first, second, third]) if (id !== undefined) sandbox.assign(ACCOUNT, id, lotus.id);
  // A near duplicate in lower case, which people have.
  const near = sandbox.addSkill(ACCOUNT, typo.name.toLowerCase());
  for (const id of [second, third]) if (id !== undefined) sandbox.assign(ACCOUNT, id, near.id);
  sandbox.addSkill(ACCOUNT, duplicate.name);
  return {
    missing: missing.map(({ name }) => name),
    renamed: { name: `${renamed.name} (Microsoft 365)`, formerly: renamed.name },
  };
}

function catalogText(
  names: { readonly skills: readonly string[]; readonly roles: readonly string[] },
  drift: Drift | null,
): string {
  const { renamed } = drift ?? {};
  const quoted = (name: string): string => `  - ${JSON.stringify(name)}`;
  return [
    'skills:',
    ...(renamed === undefined
      ? []
      : [`  - name: ${JSON.stringify(renamed.name)}`, `    formerly: [${JSON.stringify(renamed.formerly)}]`]),
    ...names.skills.filter((name) => name !== renamed?.formerly).map(quoted),
    'roles:',
    ...names.roles.map(quoted),
    '',
  ].join('\n');
}

async function writeConfiguration(folder: string, sandbox: Sandbox, catalog: string): Promise<string> {
  const accounts = join(folder, 'config', 'accounts');
  await mkdir(accounts, { recursive: true });
  const file = join(folder, 'config', 'rolecall.yaml');
  await writeFile(
    file,
    [
      'accounts: accounts/*.yaml',
      'store: ../data/rolecall.db',
      'regions:',
      ...Object.entries(sandbox.regions).map(([region, url]) => `  ${region}: ${url}`),
      'api: { requestsPerSecond: 200 }',
      '',
    ].join('\n'),
  );
  const account = ['region: eu', `token: { env: ${TOKEN_VARIABLE} }`, 'mode: apply', catalog].join('\n');
  await writeFile(join(accounts, `${ACCOUNT}.yaml`), account);
  return file;
}
