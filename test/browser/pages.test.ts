// The pages in a real browser, on the built daemon and a sandbox: each state is accessible and fits its window, and an
// operator gets from the sign-in to a finished run by keyboard, with and without scripts.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrowser, launchBrowser, NO_BROWSER } from '../support/browser.ts';
import { ACCOUNTS, FAULTS, JOURNEYS, LONG_ACCOUNT, playStates } from './accounts.ts';
import { axeFindings, NARROWEST, overflows, WIDTHS } from './page-checks.ts';
import { ALL_ELEMENTS, pagesOf } from './page-list.ts';
import { waitUntil } from './daemon-process.ts';
import { signIn } from './sign-in.ts';
import { type AccountState, type Stage, startStage } from './stage.ts';
import { isThorough, someOf } from '../support/thorough.ts';

const hasBrowser = findBrowser() !== null;
if (!hasBrowser) console.warn(`The tests in a browser are skipped: ${NO_BROWSER}.`);

describe.skipIf(!hasBrowser)('the pages in a browser', () => {
  let stage: Stage;
  let browser: Browser;

  beforeAll(async () => {
    [stage, browser] = await Promise.all([startStage(ACCOUNTS, FAULTS), launchBrowser()]);
    await playStates(stage);
  });

  afterAll(async () => {
    await browser.close();
    await stage.close();
  });

  /** A window without a session. Throws at the end of the test when a page reported an error or left this server. */
  async function openWindow(options: BrowserContextOptions = {}) {
    const context = await browser.newContext({ baseURL: stage.url, ...options });
    context.setDefaultTimeout(60_000);
    const problems: string[] = [];
    context.on('console', (message) => {
      // The answer to a page without a session is the form, with this status.
      const isExpected = /status of (401|404)/.test(message.text());
      if (['error', 'warning'].includes(message.type()) && !isExpected) problems.push(message.text());
    });
    context.on('weberror', (error) => problems.push(String(error.error())));
    context.on('request', (request) => {
      if (!request.url().startsWith(stage.url)) problems.push(`requested ${request.url()}`);
    });
    const page = await context.newPage();
    return { page, problems, close: () => context.close() };
  }

  it.concurrent(
    'are accessible and fit the window in every width and theme',
    async () => {
      const { page, problems, close } = await openWindow();
      const found: Record<string, readonly string[]> = {};
      const check = async (tab: Page, name: string, isComplete: boolean): Promise<void> => {
        const all = await axeFindings(tab, 'light');
        if (isComplete) all.push(...(await axeFindings(tab, 'dark')));
        all.push(...(await overflows(tab, isComplete && isThorough ? WIDTHS : NARROWEST)));
        if (all.length > 0) found[name] = all;
      };
      await page.goto('/sign-in');
      await check(page, 'the sign-in', false);
      await page.fill('#token', 'not-the-token-of-anybody');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await check(page, 'the sign-in after a wrong token', true);
      await signIn(page, '/');
      // Two tabs need two thirds of the time of one.
      const listed = await pagesOf(stage);
      expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining([...ALL_ELEMENTS]));
      // The other pages have the same elements in other states.
      const pages = listed.filter(({ name }) => isThorough || ALL_ELEMENTS.includes(name));
      const checkAll = async (tab: Page): Promise<void> => {
        for (let next = pages.shift(); next !== undefined; next = pages.shift()) {
          await tab.goto(next.path);
          await check(tab, next.name, ALL_ELEMENTS.includes(next.name));
        }
      };
      await Promise.all([checkAll(page), checkAll(await page.context().newPage())]);
      // In a window of its own: the policy of a page of the daemon forbids the styles in the file.
      const file = await openWindow();
      await file.page.setContent(await stage.command(['plan', 'drift-us', LONG_ACCOUNT, '--format', 'html']));
      await check(file.page, 'a report as a file', true);
      expect(found).toEqual({});
      expect([...problems, ...file.problems]).toEqual([]);
      await close();
      await file.close();
    },
    240_000,
  );

  const journeys = [
    { scripts: 'scripts', account: JOURNEYS.script, javaScriptEnabled: true },
    { scripts: 'no scripts', account: JOURNEYS.plain, javaScriptEnabled: false },
  ];
  it.concurrent.each(someOf(journeys, 1))(
    'lead by keyboard from the sign-in to a finished run with $scripts',
    async ({ account, javaScriptEnabled }) => {
      const { page, problems, close } = await openWindow({ javaScriptEnabled });
      await signIn(page, '/');
      await tabTo(page, 'Name, region, state or commit');
      await page.keyboard.type(account);
      await page.keyboard.press('Enter');
      await page.waitForURL(/[?&]q=journey/);
      expect(await page.getByRole('link', { name: 'calm-eu' }).count()).toBe(0);

      await tabTo(page, account);
      await page.keyboard.press('Enter');
      await page.waitForURL(`/accounts/${account}`);
      expect(await page.getByText('Skill 40', { exact: true }).isVisible()).toBe(true);
      await tabTo(page, /^Approve/);
      await page.keyboard.press('Enter');
      await page.getByText('approved a plan').first().waitFor();

      const runId = await runningRun(stage, account);
      // The page with the script follows the run by itself.
      if (javaScriptEnabled) await page.locator(`a[href="/runs/${runId}"]`).first().waitFor();
      else await page.reload();
      await tabTo(page, new RegExp(runId));
      await page.keyboard.press('Enter');
      await page.waitForURL(`/runs/${runId}`);
      await watchRun(page, javaScriptEnabled);
      expect(stage.sandbox.state(account).skills).toHaveLength(41);

      await page.goBack();
      await page.waitForURL(`/accounts/${account}`);
      await page.getByText('converged').first().waitFor();
      expect(await page.getByRole('button', { name: /Approve/ }).count()).toBe(0);
      // The page tells what became of the approval.
      await page.getByText('Converged: nothing left to do.').waitFor();
      await page.getByText('40 created, 0 deleted').waitFor();
      expect(problems).toEqual([]);
      await close();
    },
    240_000,
  );

  it.runIf(isThorough).concurrent(
    'are kept up to date until a click stops it, and never show another plan under the button that approves',
    async () => {
      const { page, problems, close } = await openWindow();
      await signIn(page, `/accounts/${JOURNEYS.live}`);
      const digest = page.locator('input[name=digest]');
      const shown = await digest.getAttribute('value');
      stage.configure(JOURNEYS.live, 'mode: approve\nskills: [Go, Zig]');
      await stage.sync(JOURNEYS.live);
      await requestsPage(page, () => comeBack(page));
      await page.getByText('This page is out of date.').waitFor();
      expect(await digest.getAttribute('value')).toBe(shown);

      await page.goto('/?q=journey-live');
      const row = page.getByRole('row', { name: JOURNEYS.live });
      await page.setViewportSize({ width: 390, height: 800 });
      expect(await row.locator('.bars').isVisible()).toBe(true);
      expect(await page.getByText('production').isVisible()).toBe(true);
      await row.getByRole('link', { name: JOURNEYS.live }).focus();
      const pause = async (reason: string): Promise<unknown> =>
        await stage.api(`accounts/${JOURNEYS.live}/pause`, { reason });
      await pause('first');
      await requestsPage(page, () => comeBack(page));
      await row.getByText('by http: first').waitFor();
      expect((await page.evaluate<FocusedElement>(FOCUSED)).text).toBe(JOURNEYS.live);
      await page.getByRole('button', { name: 'live' }).click();
      await page.getByRole('button', { name: 'stopped' }).waitFor();
      await pause('second');
      await comeBack(page);
      expect(await row.getByText('by http: second').count()).toBe(0);
      await requestsPage(page, () => page.getByRole('button', { name: 'stopped' }).click());
      await row.getByText('by http: second').waitFor();

      await page.goto('/accounts/failed-us');
      await page.getByRole('button', { name: 'Copy' }).first().click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(problems).toEqual([]);
      await close();
    },
    120_000,
  );
});

/** Waits for the newer page that the script requests by this. */
async function requestsPage(page: Page, work: () => Promise<unknown>): Promise<void> {
  const answer = page.waitForResponse((response) => response.request().resourceType() === 'fetch');
  await work();
  await (await answer).finished();
}

/** What happens when somebody comes back to the window. */
const comeBack = (page: Page) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

/** The id of the run that has started since the approval. */
async function runningRun(stage: Stage, account: string): Promise<string> {
  let id = '';
  await waitUntil('the approved plan is applied', async () => {
    const { activity, lastRun } = await stage.api<AccountState>(`accounts/${account}`);
    id = lastRun?.id ?? '';
    return activity === 'running' && lastRun?.status === 'running';
  });
  return id;
}

/** Waits until the page shows the end of its run. With scripts, the same document shows more progress before. */
async function watchRun(page: Page, isLive: boolean): Promise<void> {
  if (isLive) {
    let loads = 0;
    page.on('framenavigated', () => (loads += 1));
    const done = async (): Promise<number> =>
      Number(await page.getByRole('progressbar').getAttribute('value'));
    const first = await done();
    await waitUntil('the page shows more progress', async () => (await done()) > first);
    expect(loads).toBe(0);
  }
  await page.getByText('converged').first().waitFor();
}

/** Presses Tab until the element with this text, label or address has the focus; throws when it can't be reached or seen. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const seen: string[] = [];
  for (let presses = 0; presses < 100; presses += 1) {
    await page.keyboard.press('Tab');
    const { text, address, isVisible } = await page.evaluate<FocusedElement>(FOCUSED);
    if (!isVisible) throw new Error(`the focus on “${text}” cannot be seen`);
    if (typeof name === 'string' ? text === name : name.test(text) || name.test(address)) return;
    seen.push(text);
  }
  throw new Error(`Tab does not reach ${String(name)}, only ${[...new Set(seen)].join(', ').slice(0, 500)}`);
}

interface FocusedElement {
  readonly text: string;
  readonly address: string;
  readonly isVisible: boolean;
}

/** The text or the label of the element with the focus, and whether an outline shows it. */
const FOCUSED = `(() => {
  const { activeElement } = document;
  const label = activeElement.labels?.[0]?.textContent ?? activeElement.getAttribute('aria-label');
  const text = label ?? activeElement.textContent;
  const isVisible = activeElement === document.body || getComputedStyle(activeElement).outlineStyle !== 'none';
  return { text: text.trim(), address: activeElement.getAttribute('href') ?? '', isVisible };
})()`;
