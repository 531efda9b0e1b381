// Writes all metrics for a scrape. Ten thousand accounts have a quarter of a million lines, so other work runs between
// pieces of them. Only reading the values of one metric cannot be divided.
import { Gauge, type Metric, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import { startTurns, type Turns } from '../platform/turns.ts';

/** Writing so many lines takes a few milliseconds. */
const LINES_AT_A_TIME = 2000;

type Values = MetricObjectWithValues<MetricValue<string>>;

/** Returns the reader of the text. Scrapes at the same time share one text. */
export function createMetricsText(registry: Registry): () => Promise<string> {
  let writing: Promise<string> | null = null;
  return () => (writing ??= write(registry).finally(() => (writing = null)));
}

async function write(registry: Registry): Promise<string> {
  const texts: string[] = [];
  const turns = startTurns();
  for (const { name } of registry.getMetricsAsArray()) {
    const metric = registry.getSingleMetric(name);
    if (metric !== undefined) texts.push(await textOf(metric, turns));
  }
  return `${texts.join('\n\n')}\n`;
}

async function textOf(metric: Metric, turns: Turns): Promise<string> {
  if (turns.isOver()) await turns.next();
  // The types lack the method of histograms, which is twice as fast as `get`.
  const source: Metric & { readonly getForPromString?: () => Promise<Values> } = metric;
  const complete = await (source.getForPromString?.() ?? source.get());
  const { name, values } = complete;
  const pieces: string[] = [];
  for (let at = 0; at === 0 || at < values.length; at += LINES_AT_A_TIME) {
    if (turns.isOver()) await turns.next();
    const registry = new Registry();
    registry.registerMetric(new Piece({ ...complete, values: values.slice(at, at + LINES_AT_A_TIME) }));
    const text = await registry.getSingleMetricAsString(name);
    pieces.push(at === 0 ? text : withoutHead(text));
  }
  return pieces.join('\n');
}

/** Some values of a metric as one of its own, because the library writes only complete metrics. */
class Piece extends Gauge {
  readonly #values: Values;

  constructor(values: Values) {
    super({ name: values.name, help: values.help, registers: [] });
    this.#values = values;
  }

  override async get(): Promise<Values> {
    return this.#values;
  }
}

/** Without the two lines that describe the metric. */
function withoutHead(text: string): string {
  return text.slice(text.indexOf('\n', text.indexOf('\n') + 1) + 1);
}
