// Guards against wrong inputs: an old checkout, and lists that are cut short or empty.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitAll, git } from '../support/git.ts';
import { EVERY_SECOND, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { codes, holds, scene, type Scene, QUICK } from '../support/scene.ts';

const names = (count: number, prefix = 'S'): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);

/** A scene whose configuration folder is a repository with one commit. */
async function inGit(
  file: string,
  skills: readonly string[],
): Promise<{ s: Scene; folder: string; first: string }> {
  const s = await scene({ api: QUICK, skills, file });
  const folder = join(s.folder, 'config');
  git(folder, ['init', '-q']);
  return { s, folder, first: commitAll(folder, 'first') };
}

test('changes of a checkout older than the last applied one are held until --accept source', async () => {
  const { s, folder, first } = await inGit('skills: [Kept, Dropped]', ['Kept']);
  expect((await s.apply()).run).toMatchObject({ status: 'converged', configCommit: first });
  s.configure('skills: [Kept, Newer]');
  const second = commitAll(folder, 'second', '2026-01-02T00:00:00Z');
  expect((await s.apply()).run).toMatchObject({ status: 'converged', configCommit: second });
  expect(s.names().skills).toEqual(['Kept', 'Newer']);

  git(folder, ['checkout', '-q', first]);
  const late = await s.apply();
  expect(late.result.status).toBe(3);
  expect(late.run).toMatchObject({ status: 'held', created: 0, deleted: 0 });
  expect(holds(late.plan)).toEqual({ Dropped: ['source'], Newer: ['source'] });
  expect(late.plan.held[0]?.release).toContain('--accept source');
  expect(s.names().skills).toEqual(['Kept', 'Newer']);

  const accepted = await s.apply('--accept', 'source');
  expect(accepted.run).toMatchObject({ status: 'converged', created: 1, deleted: 1 });
  expect(s.names().skills).toEqual(['Dropped', 'Kept']);
});

test('a list that lost more than a quarter of its entries blocks the run until --accept suspicious_list', async () => {
  const skills = names(12);
  const s = await scene({ api: QUICK, skills, file: `skills: [${skills.join(', ')}, New]` });
  await s.apply();
  for (const name of skills.slice(0, 10)) s.sandbox.removeEntry('acme', s.idOf(name));
  s.sandbox.clearRequests();
  const blocked = await s.apply();
  expect(blocked.result.status).toBe(3);
  expect(blocked.run).toMatchObject({ status: 'blocked', created: 0, deleted: 0 });
  expect(codes(blocked.plan)).toContain('suspicious_list');
  expect(blocked.run).toMatchObject({
    errorCode: 'suspicious_list',
    error: blocked.plan.warnings[0]?.message,
  });
  // A run of a command leaves nothing that could be approved.
  expect(s.rows('select pending_digest from accounts')).toEqual([{ pending_digest: null }]);
  expect(s.writes()).toEqual([]);
  expect((await s.plan('--detailed-exitcode')).result.status).toBe(3);
  expect((await s.plan()).result.status).toBe(0);

  const accepted = await s.apply('--accept', 'suspicious_list');
  expect(accepted.result.status).toBe(0);
  expect(accepted.run).toMatchObject({ status: 'converged', created: 10 });
  expect(s.names().skills).toEqual([...skills, 'New'].toSorted());
});

test('a blocked account in mode plan shows one reason everywhere, and an approval makes its lists the good ones', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `Skill ${index}`);
  const file = `mode: plan\nschedule: ${EVERY_SECOND}\nskills: [${names.join(', ')}]`;
  const s = await scene({ api: QUICK, skills: names, file, service: WITH_TOKEN });
  const daemon = await startDaemon(s);
  await s.until('a run has ended', () => daemon.runsEnded('acme', 'planned') > 0);
  for (const name of names) s.sandbox.removeEntry('acme', s.idOf(name));
  await s.until('a run is blocked', () => daemon.runsEnded('acme', 'blocked') > 0);

  const [run] = s.rows<{ id: string; error_code: string }>(
    "select id, error_code from runs where status = 'blocked' order by id",
  );
  expect(run?.error_code).toBe('suspicious_list');
  expect((await s.run(['status'])).stdout.replace(/\s+/gu, ' ')).toContain('suspicious_list: ');
  expect((await s.run(['show', run?.id ?? ''])).stdout).toContain('blocked (suspicious_list)');

  const approved = await s.run(['approve', 'acme', '--yes']);
  expect([approved.status, approved.stdout]).toEqual([0, expect.stringContaining('accepts the lists')]);
  const before = daemon.runsEnded('acme', 'planned');
  await s.until('the lists are accepted', () => daemon.runsEnded('acme', 'planned') > before + 1);
  await daemon.stop();
  expect(s.writes()).toEqual([]);
  const [last] = s.rows<{ status: string }>('select status from runs order by id desc limit 1');
  expect(last?.status).toBe('planned');
  expect(s.rows('select pending_digest, approved_digest from accounts')).toEqual([
    { pending_digest: null, approved_digest: null },
  ]);
});
