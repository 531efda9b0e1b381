// Which account answers: the pin, the stored id, the ids in the lists, a copied token.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codes, scene, type Scene, TOKEN } from '../support/scene.ts';

const OTHER = { name: 'other', id: '43', token: 'token-of-other', skills: ['Theirs'] };

/** Runs as `acme`, but with the token of the account `other`. */
const swapped = { env: { TOKEN_ACME: OTHER.token } };

async function expectMismatch(s: Scene, run: () => ReturnType<Scene['apply']>): Promise<string> {
  s.sandbox.clearRequests();
  const { result, run: report } = await run();
  expect(result.status).toBe(1);
  expect(report).toMatchObject({ status: 'failed', errorCode: 'identity_mismatch', created: 0, deleted: 0 });
  expect(s.writes()).toEqual([]);
  return report.error ?? '';
}

test('a token of an account other than the pinned one fails the run before a write, with both ids', async () => {
  const s = await scene({ skills: ['Old', 'Kept'], file: 'accountId: "41"\nskills: [Kept, New]' });
  const error = await expectMismatch(s, () => s.apply());
  expect(error).toMatch(/\b42\b.*\b41\b/);
  s.configure('accountId: "42"\nskills: [Kept, New]');
  expect((await s.apply()).run).toMatchObject({ status: 'converged', remoteAccountId: '42' });
});

test('a swapped token fails, because the store has the account id of the first run', async () => {
  const s = await scene({ skills: ['Ours'], file: 'skills: [Ours, New]', others: [OTHER] });
  await s.apply();
  s.sandbox.clearRequests();
  for (const command of [['plan'], ['apply', '--yes']]) {
    const result = await s.run(command, swapped);
    expect(result.status).toBe(1);
    expect(`${result.stdout}${result.stderr}`).toMatch(/43.*42/s);
  }
  expect(s.writes()).toEqual([]);
  expect(s.names('other').skills).toEqual(['Theirs']);
});

test('a changed pin switches to the other account without the history of the old one', async () => {
  const s = await scene({
    skills: ['Ours', 'Kept'],
    file: 'skills: [Kept, New]\npolicy: { ownership: managed }',
    others: [{ ...OTHER, skills: ['Ours', 'New'] }],
  });
  await s.apply();
  s.configure('accountId: "43"\nskills: [Kept]\npolicy: { ownership: managed }');
  const moved = await s.run(['plan', '--format', 'json'], swapped);
  const [plan] = JSON.parse(moved.stdout) as Awaited<ReturnType<Scene['plan']>>['plan'][];
  expect(plan).toMatchObject({ remoteAccountId: '43', summary: { create: 1, delete: 0, leave: 2 } });
  expect(plan === undefined ? [] : codes(plan)).toContain('no_history');
});

test('the later of two accounts with one token fails', async () => {
  const s = await scene({ skills: ['Ours'], file: 'skills: [Ours]' });
  s.configure('skills: [Ours, New]', 'copy');
  await s.apply('acme');
  const env = { TOKEN_COPY: 'token-of-acme' };
  const { status, stdout } = await s.run(['apply', '--yes', '--format', 'json', 'copy'], { env });
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject([{ account: 'copy', errorCode: 'identity_mismatch' }]);
  expect(stdout).toContain('acme');
  expect(s.writes()).toEqual([]);
});

test('in an empty account the first create is sent alone, and its response shows which account it is', async () => {
  const s = await scene({
    file: 'accountId: "42"\nskills: [A, B, C]',
    faults: [{ match: { method: 'POST' }, do: { type: 'wrong-account-id', id: '99' } }],
  });
  const { result, run } = await s.apply();
  expect(result.status).toBe(1);
  expect(run).toMatchObject({ status: 'failed', errorCode: 'identity_mismatch' });
  expect(s.writes()).toEqual(['POST A']);
  expect(run.operations.map(({ status }) => status)).toEqual(['done', 'skipped', 'skipped']);
});

test('tokens that were swapped are refused by every command, also when no list carries an account id', async () => {
  const s = await scene({
    skills: ['Ours'],
    resources: [],
    file: 'skills: [Ours]',
    others: [{ ...OTHER, resources: [] }],
    settings: { omitOptionalFields: true },
  });
  s.configure('skills: [Theirs]', 'other');
  expect((await s.run(['apply', '--yes', '--all'])).status).toBe(0);
  s.sandbox.clearRequests();
  const env = { TOKEN_ACME: OTHER.token, TOKEN_OTHER: TOKEN };
  for (const command of [
    ['plan', 'other'],
    ['plan', 'acme'],
    ['apply', '--yes', '--all', '--accept', 'no_evidence'],
    ['validate', '--online'],
    ['dump', 'acme'],
  ]) {
    const { status, stdout, stderr } = await s.run(command, { env });
    expect([command, status]).toEqual([command, 1]);
    expect(`${stdout}${stderr}`).toMatch(/an entry of “(acme|other)”/);
  }
  expect(s.writes()).toEqual([]);
  // The right tokens work again.
  expect((await s.run(['apply', '--yes', '--all'])).status).toBe(0);
});

test('one service under two addresses is refused before a write, also when both accounts run for the first time', async () => {
  const s = await scene({
    skills: ['Ours'],
    resources: [],
    settings: { omitOptionalFields: true },
    isFresh: true,
  });
  const copy = `baseUrl: ${s.sandbox.url.replace('127.0.0.1', 'localhost')}\ntoken: { env: TOKEN_ACME }\n`;
  s.configure('skills: [Ours, One]');
  s.write('config/accounts/copy.yaml', `${copy}skills: [Ours, Two]\n`);
  for (let round = 0; round < 3; round += 1) {
    const { status, stdout } = await s.run(['apply', '--yes', '--all', '--format', 'json']);
    expect([status, stdout]).toEqual([1, expect.stringContaining('identity_mismatch')]);
  }
  // Which of the two runs first is open, and both are refused if they run at the same moment.
  expect(s.writes().length).toBeLessThan(2);
  s.configure('skills: [Ours, One]\npolicy: { delete: never }');
  rmSync(join(s.folder, 'config/accounts/copy.yaml'));
  expect((await s.run(['apply', '--yes', 'acme'])).status).toBe(0);
  expect(s.names().skills).toContain('One');
});

test('an account whose file was renamed keeps its entries, also when no list carries an account id', async () => {
  const s = await scene({
    skills: ['Ours'],
    resources: [],
    file: 'skills: [Ours]',
    settings: { omitOptionalFields: true },
  });
  await s.apply();
  rmSync(join(s.folder, 'config/accounts/acme.yaml'));
  s.configure('skills: [Ours, New]', 'renamed');
  const env = { TOKEN_RENAMED: TOKEN };
  expect((await s.run(['apply', '--yes', 'renamed'], { env })).status).toBe(0);
  expect(s.names().skills).toEqual(['New', 'Ours']);
});

test('a foreign account whose lists contain no id is written to once, and identified by that entry from then on', async () => {
  const s = await scene({
    file: 'accountId: "42"\nskills: [A, B]',
    others: [OTHER],
    settings: { omitOptionalFields: true },
  });
  const first = await s.run(['apply', '--yes'], swapped);
  expect([first.status, s.names('other').skills]).toEqual([1, ['A', 'Theirs']]);
  // The create no longer counts as one that a stale list may lack.
  s.execute("update operations set finished_at = '2026-01-01T00:00:00.000Z' where status = 'done'");
  s.sandbox.clearRequests();
  for (const command of [['plan'], ['apply', '--yes']]) {
    const again = await s.run(command, swapped);
    expect(again.status).toBe(1);
    expect(`${again.stdout}${again.stderr}`).toContain(
      'created or saw in account 43, and this account is 42',
    );
  }
  expect(s.writes()).toEqual([]);

  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 2 });
});
