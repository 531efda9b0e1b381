// The options of `plan` and `apply` that decide how much is shown.
import { expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scene, TOKEN } from '../support/scene.ts';

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

test('a plan of an account that only holds and of one that deletes begins with what all of them do, and exits 2', async () => {
  const old = Array.from({ length: 13 }, (_, index) => `Old ${index}`);
  const s = await scene({
    skills: ['Used'],
    resources: [{ id: 'ada', skills: ['Used'] }],
    file: 'skills: []\npolicy: { allowEmpty: true }',
    others: [
      {
        name: 'beta',
        id: '43',
        token: `${TOKEN}-beta`,
        skills: [...old, 'Perl', 'Kept'],
        resources: [{ id: 'bob', skills: ['Perl'] }],
      },
    ],
  });
  s.configure(
    'skills: [Kept, New 1, New 2]\npolicy: { maxDeletes: 99, maxDeletePercent: 100, delete: always }',
    'beta',
  );
  await s.run(['plan']);
  const verdict = (perl: string): string =>
    `Merging or applying this creates 2 and deletes 14 entries; 1 person loses ${perl}; 1 change is held (1 person has it).`;
  const text = await s.run(['plan', '--detailed-exitcode']);
  expect([text.status, text.stdout.split('\n')[0]]).toEqual([2, verdict('Perl')]);
  const markdown = await s.run([
    'plan',
    '--detailed-exitcode',
    '--format',
    'markdown',
    '--output',
    'plan.md',
  ]);
  expect(markdown).toMatchObject({ status: 2, stdout: '' });
  const [first, , title] = readFileSync(join(s.folder, 'plan.md'), 'utf8').split('\n');
  expect([first, title]).toEqual([`**${verdict('`Perl`')}**`, '## rolecall plan']);
  const html = await s.run(['plan', '--format', 'html']);
  expect(html.stdout).toContain('Merging or applying this creates 2 and deletes 14 entries; 1 person loses ');

  const held = await s.run(['plan', '--detailed-exitcode', 'acme']);
  expect([held.status, held.stdout.split('\n')[0]]).toEqual([
    3,
    'Merging or applying this writes nothing; 1 change is held (1 person has it).',
  ]);
  s.configure('skills: [Kept, Kept]', 'beta');
  const broken = await s.run(['plan', '--detailed-exitcode']);
  expect([broken.status, broken.stdout.split('\n')[0]]).toEqual([
    4,
    '1 of 2 accounts could not be planned; in the others, merging or applying this writes nothing; 1 change is held (1 person has it).',
  ]);
});
