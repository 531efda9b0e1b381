// Makes the pictures of the README from the demo and its account: `npm run pictures`. A plan, the question and the result in the
// terminal; and the page on which a plan waits, the overview and a run.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { shown, shownFile } from '../support/root-readme.ts';
import { waitUntil } from './daemon-process.ts';
import { THEMES } from './page-checks.ts';
import { terminalPicture } from './terminal-picture.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const FOLDER = fileURLToPath(new URL('../../config/docs/', import.meta.url));

const COLUMNS = 92;
const ROWS = 26;
/** Wide enough for tables, and made smaller so that the text is as large as that of the document around it. */
const WIDTH = 1100;
const SCALE = 0.8;
const MAX_HEIGHT = 495;
const MAX_BYTES = 60_000;

interface ListedRun {
  readonly id: string;
  readonly status: string;
  readonly created: number;
  readonly deleted: number;
}

interface Shown {
  readonly process: ChildProcess;
  /** Resolves with the match when the process has printed it. */
  readonly until: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly output: () => string;
}

/** Starts a program and keeps what it prints on stdout. */
function start(command: readonly string[], cwd: string): Shown {
  const [program = '', ...args] = command;
  const env = { ...process.env, TERM: 'xterm', SHELL: '/bin/sh', ROLECALL_SANDBOX_TOKEN: 'sandbox-token-1' };
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    process: child,
    output: () => output,
    async until(pattern) {
      await waitUntil(`${program} prints ${pattern}`, async () => pattern.test(output));
      return pattern.exec(output) ?? Promise.reject(new Error('it has printed it'));
    },
  };
}

async function run(command: readonly string[], cwd: string): Promise<void> {
  await once(start(command, cwd).process, 'close');
}

/** The first steps of the README up to `apply`, on a terminal of a usual width: the plan, the question and the result. */
async function framesOfApply(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-pictures-'));
  const rolecall = [process.execPath, PROGRAM];
  await run([...rolecall, 'init', '--sandbox'], folder);
  const sandbox = start([...rolecall, ...shown('rolecall sandbox').command.split(' ').slice(1)], folder);
  await sandbox.until(/listens at/);
  await run([...rolecall, 'plan', 'acme'], folder);
  writeFileSync(join(folder, 'config/accounts/acme.yaml'), shownFile('config/accounts/acme.yaml'));
  const line = `stty cols ${COLUMNS} rows 50; exec '${rolecall.join("' '")}' apply acme`;
  const apply = start(['script', '-qec', line, '/dev/null'], folder);
  await apply.until(/is accepted:/);
  const asked = screen(apply.output());
  apply.process.stdin?.write('yes\n');
  await once(apply.process, 'close');
  const ended = screen(apply.output());
  sandbox.process.kill('SIGTERM');
  rmSync(folder, { recursive: true });
  return [asked.slice(0, ROWS), asked.slice(-ROWS), ended.slice(-ROWS)].map((lines) => lines.join('\n'));
}

/** The lines on a terminal after the command, without the progress that was erased. */
function screen(output: string): string[] {
  // eslint-disable-next-line no-control-regex -- what the progress and the question write
  const text = output.replaceAll(/\u001b\[\?7l.*?\u001b\[\?7h|\u001b\[\d*[GJK]|\r/g, '');
  const wrapped = (line: string): readonly string[] =>
    line.includes('\u001b') ? [line] : (line.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? ['']);
  return ['$ rolecall apply acme', ...text.trimEnd().split('\n').flatMap(wrapped)];
}

async function takePage(page: Page, name: string, address: string): Promise<void> {
  await page.setViewportSize({ width: WIDTH, height: 400 });
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme });
    await page.goto(address);
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    const clip = { x: 0, y: 0, width: WIDTH, height: Math.min(height, MAX_HEIGHT) };
    write(`${name}-${colorScheme}.png`, await page.screenshot({ fullPage: true, clip }));
  }
}

function write(file: string, image: Uint8Array | string): void {
  writeFileSync(join(FOLDER, file), image);
  const { size } = statSync(join(FOLDER, file));
  if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MAX_BYTES}`);
  console.log(`config/docs/${file}: ${size} bytes`);
}

async function runsOf(page: Page, url: string): Promise<readonly ListedRun[]> {
  const answer = await page.request.get(`${url}/api/v1/runs?account=acme&limit=20`);
  return ((await answer.json()) as { readonly runs: readonly ListedRun[] }).runs; // as the API documents it
}

mkdirSync(FOLDER, { recursive: true });
const frames = await framesOfApply();
for (const theme of THEMES) {
  write(`apply-${theme}.svg`, terminalPicture({ frames, columns: COLUMNS, rows: ROWS, theme }));
}
const demo = start([process.execPath, PROGRAM, 'demo', '--serve'], tmpdir());
const [, link = ''] = await demo.until(/signed in \(once\): (http:\S+)\n/);
const browser = await launchBrowser();
const page = await browser.newPage({ deviceScaleFactor: SCALE });
await page.goto(link);
const url = new URL(page.url()).origin;
await waitUntil('a plan of acme waits', async () => (await runsOf(page, url))[0]?.status === 'planned');
const applied = (await runsOf(page, url)).find(({ created, deleted }) => created + deleted > 0);
await takePage(page, 'account', `${url}/accounts/acme`);
await takePage(page, 'overview', `${url}/`);
await takePage(page, 'run', `${url}/runs/${applied?.id ?? ''}`);
await browser.close();
demo.process.kill('SIGINT');
