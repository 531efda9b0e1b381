// Makes the pictures of the README from the demo: `npm run pictures`. A plan in the terminal, the overview and a run.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { waitUntil } from './daemon-process.ts';
import { THEMES } from './page-checks.ts';
import { terminalPage } from './terminal-page.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const FOLDER = fileURLToPath(new URL('../../config/docs/', import.meta.url));

const COLUMNS = 92;
/** Wide enough for tables, and made smaller so that the text is as large as that of the document around it. */
const WIDTH = 1100;
const SCALE = 0.8;
const MAX_HEIGHT = 700;
/** Of the plan; the picture shows its beginning. */
const MAX_LINES = 26;
const MAX_BYTES = 60_000;

interface Demo {
  readonly process: ChildProcess;
  readonly link: string;
}

interface ListedRun {
  readonly id: string;
  readonly status: string;
  readonly created: number;
  readonly deleted: number;
}

/** Starts the demo and resolves with the link that signs in, when its daemon listens. */
async function startDemo(): Promise<Demo> {
  const child = spawn(process.execPath, [PROGRAM, 'demo', '--serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  let output = '';
  return await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const [, link] = /signed in \(once\): (http:\S+)\n/.exec(output) ?? [];
      if (link !== undefined) resolve({ process: child, link });
    });
    child.once('exit', (status) => reject(new Error(`the demo ended with ${status}: ${output}`)));
  });
}

/** The plan of the demo with its command, as a terminal of a usual width shows it, without the progress. */
function planOfDemo(): string {
  const line = `stty cols ${COLUMNS} rows 50; exec '${process.execPath}' '${PROGRAM}' demo 2>/dev/null`;
  const env = { ...process.env, TERM: 'xterm', SHELL: '/bin/sh' };
  const shown = execFileSync('script', ['-qec', line, '/dev/null'], { env, encoding: 'utf8' });
  const [, plan] = /^(\$ rolecall plan [^]*?)\n+━━ 2\./m.exec(shown.replaceAll('\r\n', '\n')) ?? [];
  if (plan === undefined) throw new Error(`the demo shows no plan: ${shown}`);
  const lines = plan.replace('\n\n', '\n').split('\n');
  return lines.length <= MAX_LINES ? plan : [...lines.slice(0, MAX_LINES), '  …'].join('\n');
}

async function takeTerminal(page: Page, name: string, text: string): Promise<void> {
  for (const theme of THEMES) {
    await page.setContent(terminalPage(text, theme));
    write(`${name}-${theme}.png`, await page.locator('pre').screenshot());
  }
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

function write(file: string, image: Uint8Array): void {
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
const demo = await startDemo();
const browser = await launchBrowser();
const page = await browser.newPage({ deviceScaleFactor: SCALE });
await takeTerminal(page, 'plan', planOfDemo());
await page.goto(demo.link);
const url = new URL(page.url()).origin;
await waitUntil('a plan of acme waits', async () => (await runsOf(page, url))[0]?.status === 'planned');
const run = (await runsOf(page, url)).find(({ created, deleted }) => created + deleted > 0);
await takePage(page, 'overview', `${url}/`);
await takePage(page, 'run', `${url}/runs/${run?.id ?? ''}`);
await browser.close();
demo.process.kill('SIGINT');
