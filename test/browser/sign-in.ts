// Signs in as an operator does.
import type { Page } from 'playwright-core';
import { OPERATE_TOKEN } from './daemon-process.ts';

/** Opens a page that needs a session, types the token into the field that has the focus, and arrives at the page. */
export async function signIn(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator('#token:focus').waitFor();
  await page.keyboard.type(OPERATE_TOKEN);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}
