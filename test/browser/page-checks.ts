// Checks of an opened page: accessibility, and that nothing is wider than the window.
import axe from 'axe-core';
import type { Page } from 'playwright-core';

export const THEMES = ['light', 'dark'] as const;
export const WIDTHS = [390, 768, 1024, 1280, 1440, 1920] as const;

interface AxeRule {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Up to 44rem, which is 704 px, tables are shown as cards. The narrowest window of each layout overflows first. */
export const NARROWEST: readonly number[] = [390, 720];

/** What axe finds on the page in this theme, a line for each rule with its first element. */
export async function axeFindings(page: Page, theme: (typeof THEMES)[number]): Promise<string[]> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe.source);
  await page.emulateMedia({ colorScheme: theme });
  // Only colours differ between the themes.
  const rules = theme === 'dark' ? "runOnly: ['color-contrast'], " : '';
  const broken = await page.evaluate<AxeRule[]>(
    `axe.run({ ${rules}resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return broken.map(
    ({ id, help, nodes }) => `${theme}: ${id}: ${help}: ${nodes.length} times, first ${nodes[0]?.html ?? ''}`,
  );
}

/** The widths at which the page is wider than its window, with the elements that make it so. */
export async function overflows(page: Page, widths: readonly number[]): Promise<string[]> {
  const found: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await page.evaluate<string[]>(WIDE_ELEMENTS);
    if (wide.length > 0) found.push(`${width}: ${wide.join(', ')}`);
  }
  return found;
}

/** The elements beyond the right edge, when the page can be scrolled sideways. */
const WIDE_ELEMENTS = `(() => {
  const { scrollWidth } = document.scrollingElement;
  if (scrollWidth <= innerWidth) return [];
  const wide = [...document.querySelectorAll('body *')].filter(
    (element) => element.getBoundingClientRect().right > innerWidth + 1,
  );
  return [scrollWidth + ' px', ...wide.slice(0, 3).map((element) => element.outerHTML.slice(0, 160))];
})()`;
