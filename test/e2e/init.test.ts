// `init`: the first configuration of a new user, whose first plan is empty, and everything that stops it.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type SandboxSeed, startSandbox } from '../../src/sandbox/sandbox.ts';
import { freePort } from '../support/loopback.ts';
import { hasTerminal, typedOnTerminal } from '../support/terminal.ts';
import { makeWorkspace, type RunOptions, until, type Workspace } from '../support/workspace.ts';

const TOKEN = 'token-of-acme';
const SEED = {
  accounts: [
    {
      name: 'acme',
      id: '42',
      token: TOKEN,
      region: 'eu',
      skills: ['Go', 'C#: #1', ' padded '],
      roles: ['Dev'],
      resources: [{ id: 'ada', skills: ['Go'], role: 'Dev', salary: { amount: 9_876_543 } }],
    },
  ],
} satisfies SandboxSeed;

/** The first is named by options, the second is proposed by the question for an account `acme`. */
const ENV = { FIRST_TOKEN: TOKEN, ACME_TOKEN: TOKEN };

interface Stage extends Workspace {
  readonly url: string;
  /** The program in the folder, without --config unless it is given. */
  here(args: readonly string[], options?: RunOptions): ReturnType<Workspace['run']>;
  /** All files below the folder, relative and sorted. */
  files(): string[];
}

async function stage(): Promise<Stage> {
  const sandbox = await startSandbox({ seed: SEED });
  onTestFinished(() => sandbox.close());
  const workspace = makeWorkspace('unused');
  return {
    ...workspace,
    url: sandbox.regions.eu,
    here: (args, options) => workspace.run(args, { env: ENV, ...options, withoutConfig: true }),
    files: () =>
      readdirSync(workspace.folder, { recursive: true, withFileTypes: true })
        .filter((item) => item.isFile())
        .map((item) => join(item.parentPath, item.name).slice(workspace.folder.length + 1))
        .toSorted(),
  };
}

const WRITTEN = ['config/accounts/acme.yaml', 'config/rolecall.yaml'];

/** The complete options for the account of the stage. */
function given({ url }: Stage, ...more: string[]): string[] {
  return ['init', '--base-url', url, '--account', 'acme', '--token-env', 'FIRST_TOKEN', ...more];
}

test.each([
  ['an address', []],
  ['a region', ['--region', 'eu']],
])('init with %s writes a valid configuration whose first plan is empty', async (_title, more) => {
  const s = await stage();
  const { status, stdout } = await s.here(given(s, ...more));
  expect([status, s.files()]).toEqual([0, WRITTEN]);
  const [service = '', account = ''] = WRITTEN.toReversed().map((file) =>
    readFileSync(join(s.folder, file), 'utf8'),
  );
  expect(service).toContain('mode: plan');
  expect(account).toMatch(more.length > 0 ? /^region: eu$/m : /^baseUrl: http:/m);
  for (const part of ['accountId: "42"', 'env: FIRST_TOKEN', '- Go', 'protect:'])
    expect(account).toContain(part);
  for (const secret of [TOKEN, '9876543']) expect(stdout + service + account).not.toContain(secret);

  expect((await s.here(['validate', '--require-secrets'])).stdout).toBe('1 account, 3 names: valid\n');
  const next = [...stdout.matchAll(/^ {2}(rolecall .*)$/gm)].map(([, command = '']) => command);
  expect(next).toEqual(['rolecall plan acme', 'rolecall apply acme', 'rolecall serve']);
  const plan = await s.here(['plan', 'acme', '--detailed-exitcode']);
  expect([plan.status, plan.stdout]).toEqual([0, expect.stringContaining('acme: nothing to do')]);
});

test('init without a terminal names the options, and checks those that are given', async () => {
  const s = await stage();
  const missing = await s.here(['init', '--region', 'eu']);
  expect([missing.status, missing.stdout, s.files()]).toEqual([64, '', []]);
  for (const option of ['--base-url', '--account', '--token-env', '--token-file', '--sandbox'])
    expect(missing.stderr).toContain(option);
  const pasted = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0';
  for (const [option, value] of [
    ['--base-url', 'http://example.com'],
    ['--account', '../acme'],
    ['--token-env', pasted],
  ] as const) {
    const wrong = await s.here(['init', option, value]);
    expect([wrong.status, s.files()]).toEqual([64, []]);
    expect(wrong.stderr).toContain(`${option}: `);
    expect(wrong.stderr).not.toContain(pasted);
  }
});

test.each([
  ['a token that the service rejects', { FIRST_TOKEN: 'wrong' }, 'rejected the token'],
  ['a variable that is not set', {}, 'the environment variable FIRST_TOKEN is not set'],
])('init with %s writes nothing and reports what to fix', async (_title, env, message) => {
  const s = await stage();
  const { status, stdout, stderr } = await s.here(given(s), { env });
  expect([status, stdout, s.files()]).toEqual([1, '', []]);
  expect(stderr).toContain(message);
  expect(stderr).toContain('nothing was written');
});

test('init never overwrites a file, and reports it before it reads the account', async () => {
  const s = await stage();
  for (const file of WRITTEN) {
    s.write(file, 'mine\n');
    const args = file === 'config/rolecall.yaml' ? ['init', '--base-url', s.url] : given(s);
    const { status, stderr } = await s.here(args, { env: {} });
    expect([file, status, s.files()]).toEqual([file, 64, [file]]);
    expect(stderr).toContain(`${file} exists already`);
    for (const advice of ['--account NAME', 'move the file away']) expect(stderr).toContain(advice);
    expect(readFileSync(join(s.folder, file), 'utf8')).toBe('mine\n');
    rmSync(join(s.folder, file));
  }
});

test('init writes at the place of --config, and its hints and token file lead there', async () => {
  const s = await stage();
  writeFileSync(join(s.folder, 'secret'), `${TOKEN}\n`, { mode: 0o600 });
  const file = 'a project/etc/service.yaml';
  const args = ['init', '--base-url', s.url, '--account', 'acme', '--token-file', 'secret', '--config', file];
  const { status, stdout } = await s.here(args);
  expect([status, existsSync(join(s.folder, file))]).toEqual([0, true]);
  expect(stdout).toContain(`rolecall --config '${file}' plan acme`);
  expect((await s.here(['--config', file, 'plan'])).stdout).toContain('nothing to do');
  expect(s.files()).toContain('a project/etc/data/rolecall.db');
});

test('init refuses lists that cannot be complete', async () => {
  const s = await stage();
  const sandbox = await startSandbox({
    seed: SEED,
    faults: [{ match: { method: 'GET', path: 'skill' }, times: 'always', do: { type: 'empty-list' } }],
  });
  onTestFinished(() => sandbox.close());
  const { status, stderr } = await s.here(given({ ...s, url: sandbox.regions.eu }));
  expect([status, s.files()]).toEqual([1, []]);
  expect(stderr).toContain('nothing was written');
});

test('init --sandbox prints three commands, which lead to an empty plan of the sandbox', async () => {
  const s = await stage();
  const port = await freePort();
  const { status, stdout } = await s.here(['init', '--sandbox', '--port', String(port)]);
  expect([status, s.files()]).toEqual([0, [...WRITTEN, 'config/sandbox.json'].toSorted()]);
  const commands = [...stdout.matchAll(/^ {2}(\S.*)$/gm)].map(([, command = '']) => command.split(' '));
  const [start = [], variable = [], plan = []] = commands;
  const running = s.start(start.slice(1), { withoutConfig: true });
  await until('the sandbox listens', () => running.output().stdout.includes('listens at'));
  const [name = '', token = ''] = variable[1]?.split('=') ?? [];
  const planned = await s.here([...plan.slice(1), '--detailed-exitcode'], { env: { [name]: token } });
  expect([planned.status, planned.stdout]).toEqual([0, expect.stringContaining('nothing to do')]);
  running.process.kill('SIGTERM');
});

test.runIf(hasTerminal)('init asks on a terminal, and corrects a wrong answer', async () => {
  const s = await stage();
  const { status, output } = await typedOnTerminal(s.folder, ['init'], ENV, [
    ['Base address', 'ftp://x\r'],
    ['starts with https://', `${'\u007F'.repeat(7)}${s.url}\r`],
    ['Name of the account', 'acme\r'],
    ['Where is its token', '\r'],
  ]);
  expect([status, s.files()]).toEqual([0, WRITTEN]);
  expect(output).not.toContain(TOKEN);
  expect((await s.here(['plan'])).stdout).toContain('nothing to do');
});

test.runIf(hasTerminal)('Ctrl-C at a question of init exits 130 and writes nothing', async () => {
  const s = await stage();
  const { status, output } = await typedOnTerminal(s.folder, ['init'], ENV, [['Base address', '\u0003']]);
  expect([status, s.files()]).toEqual([130, []]);
  expect(output).toContain('Nothing was written.');
});

test('init adds an account to a configuration, whose regions it knows, and refuses a copied token', async () => {
  const s = await stage();
  await s.here(given(s, '--region', 'eu'));
  const added = ['init', '--account', 'globex', '--token-env', 'ACME_TOKEN'];
  const copied = await s.here([...added.slice(0, 3), '--region', 'eu', '--token-env', 'FIRST_TOKEN']);
  expect([copied.status, copied.stderr]).toEqual([
    4,
    expect.stringContaining('the same base address and token'),
  ]);
  const unknown = await s.here([...added, '--region', 'mars']);
  expect([unknown.status, unknown.stderr]).toEqual([4, expect.stringContaining('known regions: eu')]);
  writeFileSync(join(s.folder, 'empty.yaml'), '{}');
  const empty = await s.here([...added, '--region', 'eu', '--base-url', s.url, '--config', 'empty.yaml']);
  expect([empty.status, empty.stderr]).toEqual([64, expect.stringContaining('write `regions: { eu:')]);
  rmSync(join(s.folder, 'empty.yaml'));
  const twice = await s.here([...added, '--region', 'eu', '--base-url', s.url]);
  expect([twice.status, twice.stderr]).toEqual([64, expect.stringContaining('leave out --base-url')]);
  // A new region is added to the service file, whose comments stay.
  const service = readFileSync(join(s.folder, 'config/rolecall.yaml'), 'utf8');
  const other = await s.here([...added, '--region', 'mars', '--base-url', s.url]);
  expect([other.status, other.stdout]).toEqual([0, expect.stringContaining('added the region mars to')]);
  const [before = '', after = ''] = service.split(/^ {2}eu: .*\n/m);
  const changed = readFileSync(join(s.folder, 'config/rolecall.yaml'), 'utf8');
  expect(changed).toBe(`${before}  eu: ${s.url}\n  mars: "${s.url}"\n${after}`);
  expect(s.files()).toEqual([WRITTEN[0], 'config/accounts/globex.yaml', WRITTEN[1]]);
  expect((await s.here(['validate'])).stdout).toBe('2 accounts, 6 names: valid\n');
});

const PASSED = '\n          FIRST_TOKEN: ${{ secrets.FIRST_TOKEN }}\n';

test.each([
  ['github', ['.github/workflows/rolecall-apply.yaml', '.github/workflows/rolecall-plan.yaml'], PASSED],
  ['gitlab', ['.gitlab-ci.yml'], 'rolecall apply --all'],
])('init --ci %s writes the pipelines, and names the secrets', async (ci, files, part) => {
  const s = await stage();
  const { status, stdout } = await s.here(given(s, '--ci', ci));
  expect(status).toBe(0);
  expect(stdout).toMatch(/create the .* FIRST_TOKEN, with the token[^]*variable ROLECALL_SERVER/);
  expect(s.files()).toEqual(expect.arrayContaining([...WRITTEN, '.gitignore', ...files]));
  const texts = files.map((file) => readFileSync(join(s.folder, file), 'utf8'));
  for (const text of texts) {
    expect(text).toContain(part);
    expect(text).not.toMatch(/ACME_(EU|US)_TOKEN:/);
  }
  expect(readFileSync(join(s.folder, '.gitignore'), 'utf8')).toContain('data/');
  // For a configuration that exists, the pipelines alone.
  const region = ['--region', 'mars', '--base-url', s.url];
  const globex = ['--account', 'globex', '--token-env', 'ACME_TOKEN'];
  for (const more of [[], region, [...region, ...globex]]) {
    const again = await s.here(['init', '--ci', ci, ...more]);
    expect([again.status, again.stderr]).toEqual([64, expect.stringContaining('exists already')]);
  }
  expect(readFileSync(join(s.folder, 'config/rolecall.yaml'), 'utf8')).not.toContain('mars');
  // Another variable whose name ends with that of the new one.
  for (const [index, file] of files.entries())
    writeFileSync(join(s.folder, file), (texts[index] ?? '').replaceAll('FIRST_TOKEN', 'MY_ACME_TOKEN'));
  const other = await s.here(['init', ...globex, '--base-url', s.url]);
  const unpassed = other.stdout.match(/^add `ACME_TOKEN: .*` to \.github.*create this secret$/gm);
  expect([other.status, unpassed?.length]).toEqual([0, ci === 'github' ? 2 : undefined]);
});
