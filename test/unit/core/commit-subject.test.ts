// The length limit of commit subjects.
import { expect, it } from 'vitest';
import { cutSubject } from '../../../src/core/journal.ts';

it.each([
  ['', ''],
  ['Add Kubernetes', 'Add Kubernetes'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), `${'x'.repeat(199)}…`],
  ['😀'.repeat(200), '😀'.repeat(200)],
  ['😀'.repeat(5_000_000), `${'😀'.repeat(199)}…`],
])('a commit subject is cut to 200 characters, never within a character', (subject, cut) => {
  expect(cutSubject(subject)).toBe(cut);
});
