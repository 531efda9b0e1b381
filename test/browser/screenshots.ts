// Makes pictures of every page and state, to be looked at: `npm run screenshots -- --folder DIR`. `--sets states` leaves
// out the fleets, `--widths 1280` the other widths, `--only run-` the pages with other names.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { ACCOUNTS, approve, FAULTS, manyEntries, playStates } from './accounts.ts';
import { waitUntil } from './daemon-process.ts';
import { startFleet } from './fleet.ts';
import { THEMES, WIDTHS } from './page-checks.ts';
import { type ListedPage, pagesOf } from './page-list.ts';
import { signIn } from './sign-in.ts';
import { startStage } from './stage.ts';

/** Longer pages are cut. */
const MAX_HEIGHT = 3000;

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: 'coverage/screenshots' },
    sets: { type: 'string', default: 'states,large,0,3,60,10000' },
    widths: { type: 'string', default: WIDTHS.join() },
    only: { type: 'string', default: '' },
  },
});
const folder = resolve(values.folder);
const sets = values.sets.split(',');
const widths = values.widths.split(',').map(Number);
const only = new RegExp(values.only);
const made: string[] = [];

async function take(page: Page, pages: readonly ListedPage[]): Promise<void> {
  for (const { name, path } of pages.filter((one) => only.test(one.name))) {
    await page.goto(path);
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      for (const width of widths) {
        await page.setViewportSize({ width, height: 800 });
        const height = await page.evaluate<number>('document.documentElement.scrollHeight');
        const file = `${name}-${width}-${colorScheme}.png`;
        const clip = { x: 0, y: 0, width, height: Math.min(height, MAX_HEIGHT) };
        await page.screenshot({ path: join(folder, file), fullPage: true, clip });
        made.push(file);
      }
    }
  }
}

const OVERVIEW: readonly ListedPage[] = [
  { name: 'overview', path: '/' },
  { name: 'overview-failed', path: '/?state=failed' },
  { name: 'overview-searched', path: '/?q=acme-eu' },
  { name: 'overview-second-page', path: '/?page=2' },
  { name: 'runs', path: '/runs' },
];

mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();

async function openPage(baseURL: string): Promise<Page> {
  const context = await browser.newContext({ baseURL });
  return await context.newPage();
}

async function signedIn(baseURL: string): Promise<Page> {
  const page = await openPage(baseURL);
  await signIn(page, '/');
  return page;
}

async function takeStates(): Promise<void> {
  const stage = await startStage(ACCOUNTS, FAULTS);
  await playStates(stage);
  const page = await signedIn(stage.url);
  // The account that runs first, since it ends.
  const pages = await pagesOf(stage);
  await take(
    page,
    pages.toSorted((a, b) => Number(b.name.endsWith('running')) - Number(a.name.endsWith('running'))),
  );
  await take(await openPage(stage.url), [{ name: 'sign-in', path: '/sign-in' }]);
  await stage.api('accounts/approved-au/resume', {});
  const lastRun = async (): Promise<string | undefined> =>
    (await stage.accounts()).find(({ name, activity }) => name === 'acme-eu' && activity === 'idle')?.lastRun
      ?.id;
  const planned = await lastRun();
  await approve(stage, 'acme-eu');
  await waitUntil(
    'the approved plan is applied',
    async () => ![undefined, planned].includes(await lastRun()),
  );
  await take(page, [
    { name: 'account-after-approval', path: '/accounts/acme-eu' },
    { name: 'run-after-approval', path: `/runs/${(await lastRun()) ?? ''}` },
  ]);
  await stage.close();
}

async function takeLarge(): Promise<void> {
  const stage = await startStage([manyEntries(9000)]);
  const [account] = await stage.accounts();
  await take(await signedIn(stage.url), [
    { name: 'account-9000-entries', path: `/accounts/${account?.name ?? ''}` },
    { name: 'run-9000-entries', path: `/runs/${account?.lastRun?.id ?? ''}` },
  ]);
  await stage.close();
}

async function takeFleet(size: number): Promise<void> {
  const fleet = await startFleet(size);
  const pages = OVERVIEW.map(({ name, path }) => ({ name: `${name}-of-${size}`, path }));
  await take(await signedIn(fleet.url), size === 0 ? pages.slice(0, 1) : pages);
  await fleet.close();
}

for (const set of sets) {
  if (set === 'states') await takeStates();
  else if (set === 'large') await takeLarge();
  else await takeFleet(Number(set));
}
await browser.close();
const images = made.map(
  (file) => `<figure><img loading="lazy" src="${file}" alt=""><figcaption>${file}</figcaption></figure>`,
);
writeFileSync(
  join(folder, 'index.html'),
  `<!doctype html><title>Screenshots</title>\n${images.join('\n')}\n`,
);
console.log(`${made.length} screenshots: ${join(folder, 'index.html')}`);
