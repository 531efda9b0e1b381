// Files that accidents and attackers leave in a configuration: the built program answers soon, in little memory, with a
// position, a fix and exit status 4, and the other accounts still run.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { ONCE_A_YEAR, WITH_TOKEN, startDaemon } from '../support/daemon.ts';
import { scene } from '../support/scene.ts';
import { costly, isThorough, someOf } from '../support/thorough.ts';
import { type Result, type Workspace, makeWorkspace } from '../support/workspace.ts';

/** The documented limit is two seconds; on a busy machine even processor time is longer. */
const MAX_CPU_SECONDS = 4;
const MAX_PEAK_MB = 300;
const MEBIBYTE = 1024 * 1024;

const COST = fileURLToPath(new URL('../support/cost.mjs', import.meta.url));

interface Issue {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: string;
  readonly message: string;
}

/** `validate`, with its costs checked against the limits. */
async function validate(workspace: Workspace): Promise<{ result: Result; issues: readonly Issue[] }> {
  const file = join(workspace.folder, 'cost.json');
  // From 24 on, Node.js may let garbage of recent objects grow to twice this size before it collects any, on a machine
  // with much memory.
  const env = { NODE_OPTIONS: `--import ${COST} --max-semi-space-size=16`, COST_FILE: file, TOKEN: 'x' };
  const result = await workspace.run(['validate', '--format', 'json'], { env });
  expect(result.stderr).toBe('');
  const cost = JSON.parse(readFileSync(file, 'utf8')) as { peakMb: number; cpuSeconds: number };
  expect(cost.peakMb).toBeLessThan(MAX_PEAK_MB);
  if (isThorough) expect(cost.cpuSeconds).toBeLessThan(MAX_CPU_SECONDS);
  return { result, issues: JSON.parse(result.stdout) as Issue[] };
}

/** A workspace with one valid account, `fine`. */
function withFineAccount(): Workspace {
  const workspace = makeWorkspace('unused');
  workspace.write('config/rolecall.yaml', 'accounts: accounts/*.yaml\nstore: ../data/rolecall.db\n');
  workspace.write('config/accounts/fine.yaml', account('fine', 'skills: [Fine]\n'));
  return workspace;
}

/** Two lines, then `text` from line 3 on. */
function account(name: string, text: string): string {
  return `baseUrl: https://${name}.example.com\ntoken: { env: TOKEN }\n${text}`;
}

function numbered(count: number, piece: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => piece(index)).join('');
}

const bytes = (encoding: BufferEncoding, text: string): Buffer => Buffer.from(text, encoding);

/** The text of an account's file, or all of its bytes, and how the first error of the file begins. */
const HOSTILE: Readonly<Record<string, readonly [string | Buffer, string]>> = {
  laughs: [
    `x0: &x0 [a, a]\n${numbered(40, (i) => `x${i + 1}: &x${i + 1} [*x${i}, *x${i}, *x${i}]\n`)}`,
    '4:10 a value with an anchor (&name) must not contain an alias (*name)',
  ],
  'ten-megabytes-in-a-line': [`skills: [${'a, '.repeat(3.5 * MEBIBYTE)}]\n`, '1:1 the file has 11010'],
  'ten-megabytes-of-names': [`skills:\n${numbered(500_000, (i) => `  - S ${i}\n`)}`, '1:1 the file has '],
  'deep-brackets': [`skills: ${'['.repeat(100_000)}`, '3:9 this is nested too deeply'],
  'deep-blocks': [numbered(500, (i) => `${' '.repeat(i)}a:\n`), '22:20 this is nested too deeply'],
  'deeper-blocks': [numbered(1400, (i) => `${' '.repeat(i)}a:\n`), 'this is nested too deeply'],
  'long-key': [`${'k'.repeat(900_000)}: 1\n`, '3:1 this is not valid YAML'],
  'long-number': [`accountId: ${'9'.repeat(900_000)}\n`, '3:12 accountId: must be'],
  documents: ['skills: [A]\n---\nskills: [B]\n', '4:1 the file has several YAML documents'],
  'old-yaml': [bytes('utf8', '%YAML 1.1\n---\nskills: [A]\n'), '1:1 the file requires an older YAML'],
  'tag-of-javascript': ['skills: [!!js/function "() => 1"]\n', '3:10 YAML tags'],
  'tag-of-binary': ['skills: [!!binary aGVsbG8=]\n', '3:10 YAML tags'],
  prototype: ['__proto__: { mode: apply }\n', '3:1 unknown key "__proto__"'],
  'complex-key': ['? [a, b]\n: c\n', '3:3 a key must be plain text'],
  conflict: [
    '<<<<<<< HEAD\nskills: [A]\n=======\nskills: [B]\n>>>>>>> b\n',
    '3:1 the file has a git merge conflict',
  ],
  'conflict-in-a-list': [
    'skills:\r\n  - A\r\n<<<<<<< HEAD\r\n  - B\r\n',
    '5:1 the file has a git merge conflict',
  ],
  'conflict-left-over': ['skills:\n  - A\n=======\n  - B\n', '5:1 the file has a git merge conflict'],
  tabs: ['skills:\n\t- A\n', '4:1 a tab indents this line'],
  nul: ['skills: [A\0]\n', '3:11 the file has a NUL character here'],
  latin1: [bytes('latin1', 'mode: ä\n'), '1:7 the file is not valid UTF-8'],
  'utf-16': [bytes('utf16le', '\ufeffmode: plan\n'), '1:1 the file is UTF-16'],
  'utf-16-unmarked': [
    bytes('utf16le', 'mode: plan\n'),
    '1:2 the file has a NUL character here; if it is UTF-16',
  ],
  'utf-32': [Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x61]), '1:3 the file is not valid UTF-8'],
  empty: [bytes('utf8', ''), '1:1 the file is empty'],
  comments: [bytes('utf8', `# ${'x'.repeat(80)}\n`.repeat(10_000)), '1:1 the file is empty'],
  'extends-itself': ['extends: [extends-itself.yaml]\n', '3:11 a file cannot extend itself'],
  'extends-a-folder': ['extends: [../accounts]\n', '1:1 this is not a regular file'],
  'extends-an-account': ['extends: [fine.yaml]\n', '1:1 unknown key "baseUrl"'],
  'extends-too-much': [
    `extends: [${numbered(10_000, (i) => `c${i},`)}]\n`,
    '3:10 extends: has more than 1000',
  ],
  'marks-in-a-heap': [`skills: ["e${'\u0301\u0323'.repeat(150_000)}"]\n`, '3:10 a name has more than 30'],
};

test('validate reports an error with its position for each hostile file, within 4 seconds of processor time', async () => {
  const workspace = withFineAccount();
  const folder = join(workspace.folder, 'config/accounts');
  for (const [name, [content]] of Object.entries(HOSTILE)) {
    writeFileSync(
      join(folder, `${name}.yaml`),
      typeof content === 'string' ? account(name, content) : content,
    );
  }
  mkdirSync(join(workspace.folder, 'config/folder'));
  symlinkSync('../folder', join(folder, 'irregular-folder.yaml'));
  symlinkSync('/dev/zero', join(folder, 'irregular-device.yaml'));
  symlinkSync('irregular-loop.yaml', join(folder, 'irregular-loop.yaml'));
  symlinkSync('nowhere.yaml', join(folder, 'irregular-nowhere.yaml'));
  symlinkSync('/proc/self/status', join(folder, 'irregular-changing.yaml'));
  execFileSync('mkfifo', [join(folder, 'irregular-pipe.yaml')]);
  const socket = createServer().listen(join(folder, 'irregular-socket.yaml'));
  onTestFinished(() => void socket.close());

  const { result, issues } = await validate(workspace);
  expect(result.status).toBe(4);
  const errors = issues.filter(({ severity }) => severity === 'error');
  const firstOf = (file: string): string | undefined => {
    const issue = errors.find((error) => error.file === `config/accounts/${file}.yaml`);
    return issue && `${issue.line}:${issue.column} ${issue.message}`;
  };
  for (const [name, [, expected]] of Object.entries(HOSTILE)) {
    const file = { 'extends-a-folder': '', 'extends-an-account': 'fine' }[name] ?? name;
    if (file !== '') expect([name, firstOf(file)]).toEqual([name, expect.stringContaining(expected)]);
  }
  expect(errors).toContainEqual(
    expect.objectContaining({
      file: 'config/accounts',
      message: expect.stringContaining('this is a folder and not a file'),
    }),
  );
  expect(firstOf('irregular-device')).toBe('1:1 this is not a regular file; write the path of a YAML file');
  expect(firstOf('irregular-pipe')).toBe('1:1 this is not a regular file; write the path of a YAML file');
  expect(firstOf('irregular-socket')).toBe('1:1 this is not a regular file; write the path of a YAML file');
  expect(firstOf('irregular-loop')).toMatch(/^1:1 the file cannot be read \(ELOOP\)/u);
  expect(firstOf('irregular-nowhere')).toMatch(/^1:1 the file does not exist/u);
  expect(firstOf('irregular-changing')).toMatch(/^1:1 the file changed while it was read/u);
});

/** The most expensive files that are read at all, each alone in its own process. */
const HEAVY: readonly (readonly [string, string, string | undefined])[] = [
  ['20,000 names', `skills:\n${numbered(20_000, (i) => `- S ${i}\n`)}`, undefined],
  ['29,000 names', `skills:\n${numbered(29_000, (i) => `- S ${i}\n`)}`, 'more than 20000 names'],
  ['20,000 names in one line', `skills: [${numbered(20_000, (i) => `s${i},`)}]`, undefined],
  [
    'more values than are parsed',
    `skills: [${numbered(98_000, (i) => `s${i},`)}]`,
    'too many names or values',
  ],
  ['a flood of syntax errors', '@\n'.repeat(29_000), '3:1 a plain value cannot start'],
  ['a flood of unknown keys', numbered(14_000, (i) => `k${i}: 1\n`), '3:1 unknown key "k0"'],
  ['a flood of values', `extends: [${'a,'.repeat(28_000)}]`, 'more than 25000 values'],
  [
    'a long name under many aliases',
    `skills:\n  - &x ${'é'.repeat(250_000)}\n${'  - *x\n'.repeat(9000)}`,
    'aliases (*name) make this file too large',
  ],
  [
    'names that are all near each other',
    `skills:\n${numbered(20_000, (i) => `- ${casing(i)}\n`)}`,
    undefined,
  ],
];

/** The same letters for every number, in another case. */
function casing(number: number): string {
  return number.toString(2).padStart(16, '0').replaceAll('0', 'a').replaceAll('1', 'A');
}

test.each(someOf(HEAVY, 1))(
  'validation of an account file with %s takes at most 4 seconds of processor time and 300 MB',
  async (_, text, expected) => {
    const workspace = withFineAccount();
    workspace.write('config/accounts/heavy.yaml', account('heavy', text));
    const { result, issues } = await validate(workspace);
    expect(result.status).toBe(expected === undefined ? 0 : 4);
    expect(issues.length).toBeLessThan(210);
    const lines = issues.map(({ line, column, message }) => `${line}:${column} ${message}`);
    if (expected !== undefined) expect(lines.join('\n')).toContain(expected);
  },
);

costly(
  'with hostile files in one account the daemon answers, runs the other account and keeps the schedule',
  async () => {
    const s = await scene({
      file: `mode: apply\nschedule: ${ONCE_A_YEAR}\nskills: [A]`,
      service: WITH_TOKEN,
      others: [{ name: 'fine', id: '43', token: 'token-of-fine' }],
    });
    s.configure(`mode: apply\nschedule: ${ONCE_A_YEAR}\nskills: [A]`, 'fine');
    const daemon = await startDaemon(s);
    await s.until('both have run', () => daemon.runsEnded('acme') === 1 && daemon.runsEnded('fine') === 1);
    const nextOf = async (): Promise<unknown> => (await daemon.api('accounts/acme')).body['nextRunAt'];
    const sync = (account: string): Promise<void> =>
      s.until(
        `a run of ${account} is accepted`,
        async () => (await daemon.api(`accounts/${account}/sync`, {})).status === 202,
      );
    const next = await nextOf();
    expect(next).toEqual(expect.any(String));

    const edits = [
      '@\n'.repeat(98_000),
      HOSTILE['laughs']?.[0],
      `skills: [${'a, '.repeat(3.5 * MEBIBYTE)}]`,
      '<<<<<<< HEAD\nskills: [A]\n=======\nskills: [B]\n>>>>>>> b',
    ];
    for (const [index, edit] of someOf(edits, 2).entries()) {
      await daemon.edit(() => {
        s.configure(String(edit));
        s.configure(`mode: apply\nschedule: ${ONCE_A_YEAR}\nskills: [A, B${index}]`, 'fine');
      });
      const failed = daemon.runsEnded('acme', 'failed');
      await sync('acme');
      await sync('fine');
      await s.until('the broken account has failed', async () => {
        expect((await daemon.get('/healthz')).status).toBe(200);
        return daemon.runsEnded('acme', 'failed') > failed;
      });
      await s.until('the other account has been applied', () => s.names('fine').skills.includes(`B${index}`));
      expect(await nextOf()).toBe(next);
    }
    expect(s.names().skills).toEqual(['A']);
    await daemon.edit(() => s.configure(`mode: apply\nschedule: ${ONCE_A_YEAR}\nskills: [A, Mended]`));
    await sync('acme');
    await s.until('the fixed file is used', () => s.names().skills.includes('Mended'));
    await daemon.stop();
  },
);
