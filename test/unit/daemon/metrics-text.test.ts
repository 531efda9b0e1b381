import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { metricsText } from '../../../src/daemon/metrics-text.ts';
import { joined } from '../../support/pieces.ts';

const ACCOUNTS = Array.from({ length: 2500 }, (_, index) => `account-${index} "\\\n`);

/** Metrics as the library has them, and with the histogram in parts. */
function manyMetrics(): { registry: Registry; metrics: Metric[][] } {
  const registry = new Registry();
  const options = { help: 'What it\nis.', labelNames: ['account'], registers: [registry] };
  const drift = new Gauge({ ...options, name: 'drift' });
  const histogram = { ...options, name: 'duration_seconds', buckets: [1, 10] };
  const duration = new Histogram(histogram);
  const parts = [0, 1, 2].map(() => new Histogram({ ...histogram, registers: [] }));
  const never = new Counter({ ...options, name: 'never_total' });
  const plain = new Gauge({ name: 'plain', help: 'One value.', registers: [registry] });
  plain.set(Infinity);
  for (const [index, account] of ACCOUNTS.entries()) {
    drift.set({ account }, index === 0 ? NaN : index);
    duration.observe({ account }, index);
    parts[index < 1000 ? 0 : 2]?.observe({ account }, index);
  }
  return { registry, metrics: [[drift], parts, [never], [plain]] };
}

describe('the text of many metrics', () => {
  it('is that of the library', async () => {
    const { registry, metrics } = manyMetrics();
    const text = await joined(metricsText(metrics));
    expect(text).toBe(await registry.metrics());
    expect(text.split('\n').length).toBeGreaterThan(6 * ACCOUNTS.length);
  });

  it('is written while other work runs', async () => {
    let nowMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 20));
    onTestFinished(() => void vi.restoreAllMocks());
    let turns = 0;
    const count = (): void => {
      turns += 1;
      immediate = setImmediate(count);
    };
    let immediate = setImmediate(count);
    await joined(metricsText(manyMetrics().metrics));
    clearImmediate(immediate);
    expect(turns).toBeGreaterThan(5);
  });
});
