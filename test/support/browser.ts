// The system's browser for tests, screenshots and pictures. playwright-core drives it and downloads none.
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { isExecutable } from './executable.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Without a graphics card, without requests of its own, and with as little work at the start as possible. */
const SWITCHES = [
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
  // The same rendering of text and scroll bars on each machine.
  '--font-render-hinting=none',
  '--disable-lcd-text',
  '--hide-scrollbars',
];

/** The path of the browser: `CHROMIUM` if it is set, otherwise the first on the search path; null when there is none. */
export function findBrowser(env: Readonly<Record<string, string | undefined>> = process.env): string | null {
  const chosen = env['CHROMIUM'];
  if (chosen !== undefined && chosen !== '') return chosen;
  const folders = ['/usr/bin', ...(env['PATH'] ?? '').split(delimiter)].filter((folder) => folder !== '');
  const files = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return files.find(isExecutable) ?? null;
}

/** What is missing on a machine without a browser, and how to get one. */
export const NO_BROWSER =
  'no browser was found; install chromium (apt-get install chromium) or set CHROMIUM to the path of one';

/** Starts the browser; the caller closes it. Throws when the machine has none. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === null) throw new Error(NO_BROWSER);
  // Chromium refuses to start as root with its sandbox.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return await chromium.launch({ executablePath, args: [...SWITCHES, ...asRoot] });
}
