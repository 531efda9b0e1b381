// Writes all metrics for a scrape, in pieces. Ten thousand accounts have a quarter of a million lines, so other work runs
// between the pieces, and a piece is written when the client has read those before.
import { Gauge, type Metric, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import { startTurns } from '../platform/turns.ts';

/** Writing so many lines takes a few milliseconds. */
const LINES_AT_A_TIME = 2000;

type Values = MetricObjectWithValues<MetricValue<string>>;

/** Each of `metrics` may have several parts with the same name. The text is that of `Registry.metrics`. */
export async function* metricsText(metrics: Iterable<readonly Metric[]>): AsyncGenerator<string, void> {
  const turns = startTurns();
  let between = '';
  for (const parts of metrics) {
    let hasHead = false;
    for (const part of parts) {
      if (turns.isOver()) await turns.next();
      const complete = await valuesOf(part);
      for (let at = 0; at < complete.values.length || !hasHead; at += LINES_AT_A_TIME) {
        if (turns.isOver()) await turns.next();
        const text = await textOf({ ...complete, values: complete.values.slice(at, at + LINES_AT_A_TIME) });
        yield hasHead ? `\n${withoutHead(text)}` : `${between}${text}`;
        hasHead = true;
      }
    }
    between = '\n\n';
  }
  yield '\n';
}

async function valuesOf(metric: Metric): Promise<Values> {
  // The types lack the method of histograms, which is twice as fast as `get`.
  const source: Metric & { readonly getForPromString?: () => Promise<Values> } = metric;
  return await (source.getForPromString?.() ?? source.get());
}

async function textOf(values: Values): Promise<string> {
  const registry = new Registry();
  registry.registerMetric(new Piece(values));
  return await registry.getSingleMetricAsString(values.name);
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
