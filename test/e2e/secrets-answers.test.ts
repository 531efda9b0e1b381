// No token and no salary that a service returns is printed, stored or sent.
import { expect, test } from 'vitest';
import { CANARY, CURRENCY, leaksOf, SALARIES, searchedTexts } from '../support/canary.ts';
import { canaryWorkspace } from '../support/canary-workspace.ts';
import { startParrot } from '../support/parrot.ts';
import { quotingAnswers } from '../support/quoting-answers.ts';
import { arrayOf } from '../support/scene.ts';
import { costly, someOf } from '../support/thorough.ts';

test('leaksOf finds every encoding of a secret, even within other text', () => {
  expect(searchedTexts().filter((text) => leaksOf(`x${text}y`).length === 0)).toEqual([]);
  const encoded = Buffer.from(`{"a":"Bearer ${CANARY}"}`);
  expect(leaksOf(encoded.toString('base64'))).not.toEqual([]);
  expect(leaksOf(encoded.subarray(1).toString('base64url'))).not.toEqual([]);
  expect(leaksOf(encoded.subarray(2).toString('base64'))).not.toEqual([]);
  expect(leaksOf('an innocent text of 123 words')).toEqual([]);
});

costly('no secret that a service quotes is printed, stored or sent', async () => {
  const answers = quotingAnswers();
  const parrot = await startParrot(Object.fromEntries(answers.map(({ name, manner }) => [name, manner])));
  const served = await (
    await fetch(`${parrot.url}/any/api/public/v1/resource`, {
      headers: { authorization: `Bearer ${CANARY}` },
    })
  ).text();
  for (const secret of [...SALARIES.map(String), CURRENCY]) expect(served).toContain(secret);

  const w = canaryWorkspace();
  w.serve();
  for (const { name } of answers) {
    w.account(name, `${parrot.url}/${name}`, 'skills: [Go, Perl, New]\nroles: [Dev]');
  }
  const applied = await w.run(['apply', '--yes', '--all', '--accept', 'no_evidence', '--format', 'json']);
  expect(arrayOf(applied)).toHaveLength(answers.length);
  // The service gave every answer, and received the token that it quotes.
  expect(answers.filter(({ name }) => !parrot.usedManners().has(name)).map(({ name }) => name)).toEqual([]);
  expect(new Set(parrot.authorizations())).toEqual(new Set([`Bearer ${CANARY}`]));

  const commands = [
    ['plan', '--format', 'json', '--save', 'saved.json'],
    ['validate', '--online'],
    ['who', '--live'],
    ['history', '--limit', '1000', '--format', 'json'],
    ['plan', '--format', 'markdown'],
    ['plan', '--format', 'html'],
  ];
  for (const command of someOf(commands, 2)) await w.run(command);
  expect(w.leaks()).toEqual([]);
  expect(w.leaksOnDisk()).toEqual([]);
});
