import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMetricsText } from '../../../src/daemon/metrics-text.ts';

const ACCOUNTS = Array.from({ length: 2500 }, (_, index) => `account-${index} "\\\n`);

function manyMetrics(): Registry {
  const registry = new Registry();
  const options = { help: 'What it\nis.', labelNames: ['account'], registers: [registry] };
  const drift = new Gauge({ ...options, name: 'drift' });
  const duration = new Histogram({ ...options, name: 'duration_seconds', buckets: [1, 10] });
  new Counter({ ...options, name: 'never_total' });
  new Gauge({ name: 'plain', help: 'One value.', registers: [registry] }).set(Infinity);
  for (const [index, account] of ACCOUNTS.entries()) {
    drift.set({ account }, index === 0 ? NaN : index);
    duration.observe({ account }, index);
  }
  return registry;
}

describe('the text of many metrics', () => {
  it('is that of the library', async () => {
    const registry = manyMetrics();
    const text = await createMetricsText(registry)();
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
    const text = createMetricsText(manyMetrics());
    expect(text()).toBe(text());
    await text();
    clearImmediate(immediate);
    expect(turns).toBeGreaterThan(5);
  });
});
