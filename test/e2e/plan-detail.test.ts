// The options of `plan` and `apply` that decide how much is shown.
import { expect, test } from 'vitest';
import { scene } from '../support/scene.ts';

test('text that does not go to a terminal is never wrapped', async () => {
  const long = 'x'.repeat(300);
  const ids = Array.from({ length: 9 }, (_, index) => `65a1f0c2e4b0a1b2c3d4e5f${index}`);
  const s = await scene({
    skills: [long, 'Kept'],
    resources: ids.map((id) => ({ id, skills: [long] })),
    file: 'skills: [Kept]',
  });
  await s.run(['plan']);
  const lines = (await s.run(['plan'])).stdout.split('\n');
  expect(lines).toContain(`      - skill  ${long}  9 people have it`);
  expect(lines.some((line) => line.trim() === ids.join(', '))).toBe(true);
});
