// Writes all metrics for a scrape, one in each turn, since with ten thousand accounts one alone takes a noticeable time.
import type { Registry } from 'prom-client';
import { turn } from '../platform/turns.ts';

/** Returns the reader of the text. Scrapes at the same time share one text. */
export function createMetricsText(registry: Registry): () => Promise<string> {
  let writing: Promise<string> | null = null;
  return () => (writing ??= write(registry).finally(() => (writing = null)));
}

async function write(registry: Registry): Promise<string> {
  const texts: string[] = [];
  for (const { name } of registry.getMetricsAsArray()) {
    await turn();
    texts.push(await registry.getSingleMetricAsString(name));
  }
  return `${texts.join('\n\n')}\n`;
}
