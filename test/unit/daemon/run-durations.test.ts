import { expect, it } from 'vitest';
import { metricsText } from '../../../src/daemon/metrics-text.ts';
import { createRunDurations } from '../../../src/daemon/run-durations.ts';
import { joined } from '../../support/pieces.ts';

it('the durations of many accounts are one histogram, in parts of similar size', async () => {
  const durations = createRunDurations();
  const accounts = Array.from({ length: 1000 }, (_, index) => `account-${String(index).padStart(5, '0')}`);
  for (const account of accounts) durations.observe(account, 0.2);
  durations.observe('account-00000', 2000);
  const text = await joined(metricsText([durations.parts]));
  expect(text.match(/^# TYPE/gm)).toHaveLength(1);
  expect(text.match(/_count\{account="[^"]+"\} \d+$/gm)).toHaveLength(1000);
  expect(text).toContain('_bucket{le="3600",account="account-00000"} 2');
  expect(text).toContain('_sum{account="account-00000"} 2000.2');
  const sizes = await Promise.all(
    durations.parts.map(
      async (part) => new Set((await part.get()).values.map(({ labels }) => labels['account'])).size,
    ),
  );
  expect([Math.min(...sizes) > 3, Math.max(...sizes) < 60]).toEqual([true, true]);
});

it('an account that was removed has no duration', async () => {
  const durations = createRunDurations();
  durations.observe('acme', 1);
  durations.observe('other', 1);
  durations.forget('acme');
  const text = await joined(metricsText([durations.parts]));
  expect([text.includes('acme'), text.includes('other')]).toEqual([false, true]);
});
