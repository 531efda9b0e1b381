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

/** What axe finds on the page in both themes, a line for each rule and theme with its first element. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const findings: string[] = [];
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    // Only colours differ between the themes.
    const rules = theme === 'dark' ? "runOnly: ['color-contrast'], " : '';
    const broken = await page.evaluate<AxeRule[]>(
      `axe.run({ ${rules}resultTypes: ['violations'] }).then(({ violations }) => violations)`,
    );
    for (const { id, help, nodes } of broken) {
      findings.push(`${theme}: ${id}: ${help}: ${nodes.length} times, first ${nodes[0]?.html ?? ''}`);
    }
  }
  return findings;
}

/** The widths at which the page is wider than its window, with the elements that make it so. */
export async function overflows(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    // The themes differ in colours only, so the second is checked at the ends.
    const isEnd = width === WIDTHS[0] || width === WIDTHS.at(-1);
    for (const colorScheme of isEnd ? THEMES : (['light'] as const)) {
      await page.emulateMedia({ colorScheme });
      const wide = await page.evaluate<string[]>(WIDE_ELEMENTS);
      if (wide.length > 0) found.push(`${width} ${colorScheme}: ${wide.join(', ')}`);
    }
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
