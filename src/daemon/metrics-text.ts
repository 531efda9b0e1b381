// Writes all metrics for a scrape. With ten thousand accounts that takes long, so other work runs between two metrics.
import type { Registry } from 'prom-client';
import { startTurns } from '../platform/turns.ts';

/** Returns the reader of the text. Scrapes at the same time share one text. */
export function createMetricsText(registry: Registry): () => Promise<string> {
  let writing: Promise<string> | null = null;
  return () => (writing ??= write(registry).finally(() => (writing = null)));
}

async function write(registry: Registry): Promise<string> {
  const texts: string[] = [];
  const turns = startTurns();
  for (const { name } of registry.getMetricsAsArray()) {
    if (turns.isOver()) await turns.next();
    texts.push(await registry.getSingleMetricAsString(name));
  }
  return `${texts.join('\n\n')}\n`;
}
