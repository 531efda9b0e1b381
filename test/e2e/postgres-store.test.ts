// The program with its store in PostgreSQL: the same commands, and no password in any output.
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { freshPostgres, hasPostgres } from '../support/postgres.ts';
import { type Scene, scene } from '../support/scene.ts';

describe.skipIf(!hasPostgres)('a store in PostgreSQL', () => {
  test('serves the commands as a file does, and creates no file', async () => {
    const on = await scene({ store: 'postgres', file: 'skills: [Go, TypeScript]', isFresh: true });
    const { result, run } = await on.apply();
    expect([result.status, run.status]).toEqual([0, 'converged']);
    expect(on.writes()).toEqual(['POST Go', 'POST TypeScript']);
    const again = await on.plan();
    expect(again.plan.summary).toMatchObject({ create: 0, delete: 0 });
    expect((await on.run(['history', '--limit', '1'])).stdout).toContain('acme');
    expect((await on.run(['show', run.id])).stdout).toContain('TypeScript');
    expect((await on.run(['who', 'Go'])).status).toBe(0);
    expect((await on.run(['pause', 'acme'])).status).toBe(0);
    expect((await on.run(['status'])).stdout).toContain('paused');
    const doctor = await on.run(['validate', '--online']);
    expect([doctor.status, doctor.stdout]).toEqual([
      0,
      expect.stringMatching(
        /store PostgreSQL \S+\/test_\S+, schema test_\d+[^]*readable, writable and not damaged/u,
      ),
    ]);
    expect(existsSync(`${on.folder}/data`)).toBe(false);
  });

  test('is backed up by pg_dump, whose command `backup` names without the password', async () => {
    const on = await scene({ store: 'postgres' });
    const env = { ROLECALL_DATABASE_URL: 'postgres://me:s3cr3t@db.example.com/a?sslmode=verify-full' };
    const { status, stdout, stderr } = await on.run(['backup', "it's.dump"], { env });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/the store is in PostgreSQL, and nothing was copied; /u);
    expect(stderr).toMatch(
      /pg_dump --schema=test_\d+ --format=custom --file='it'\\''s\.dump' 'postgres:\/\/me@db\.example\.com\/a\?sslmode=verify-full'$/mu,
    );
    expect(stderr).not.toContain('s3cr3t');
  });

  // unit/store/postgres/sign-in.test.ts has each reason with its message.
  test('is an error of a command, without its password, when the database refuses or does not answer', async () => {
    const on = await scene({ store: 'postgres', file: 'skills: [Go]' });
    const { url } = await freshPostgres();
    const refused = `${url.replace(/\/[^/?]*\?/u, '/nowhere?')}&password=s3cr3t`;
    for (const [address, why] of [
      [refused, /nowhere, schema \S+: database "nowhere" does not exist \(3D000\); check/u],
      [`${refused}&sslmode=verify-full&sslrootcert=/nowhere`, /check the password, sslmode .*ENOENT/u],
      [refused.replace(/host=[^&]*/u, 'host=/nowhere'), /not available \(ENOENT\)/u],
    ] as const) {
      const { status, stderr, stdout } = await on.run(['plan'], { env: { ROLECALL_DATABASE_URL: address } });
      expect([status, stdout + stderr]).toEqual([1, expect.stringMatching(why)]);
      expect(stdout + stderr).not.toContain('s3cr3t');
    }
    expect(on.writes()).toEqual([]);
  });
});

describe.skipIf(!hasPostgres)('copy-store', () => {
  test('moves a store to PostgreSQL, with the same answers before and after', async () => {
    const on = await scene({ file: 'skills: [Go]', skills: [{ id: '1', name: 'Perl' }] });
    await on.plan();
    await on.apply();
    const before = await answers(on);
    const { url, schema } = await freshPostgres();
    const env = { ROLECALL_DATABASE_URL: url };
    const there = await on.run(
      ['copy-store', 'data/rolecall.db', 'env:ROLECALL_DATABASE_URL', '--schema', schema],
      { env },
    );
    expect(there).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(
        /^copied and verified 3 runs, \d+ rows in 11 tables, from \S+\/data\/rolecall\.db to PostgreSQL \S+, schema \S+\n$/u,
      ),
    });
    on.serve({}, '', `{ postgres: { url: { env: ROLECALL_DATABASE_URL }, schema: ${schema} } }`);
    expect(await answers(on, env)).toEqual(before);
    const again = await on.run(['copy-store', 'data/rolecall.db', url, '--schema', schema]);
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('nothing was copied')]);
  });

  test('warns about a password in its arguments and does not repeat it', async () => {
    const on = await scene();
    await on.plan();
    const address = 'postgres://me:s3cr3t@127.0.0.1:1/a';
    const { status, stderr, stdout } = await on.run(['copy-store', 'data/rolecall.db', address]);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /other users of this machine can see the password[^]*127\.0\.0\.1:1\/a, schema rolecall: /u,
    );
    expect(stderr).not.toContain('s3cr3t');
  });
});

async function answers(on: Scene, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const commands = [['history'], ['show', 'last'], ['who', 'Perl'], ['history', '--lists'], ['who', 'acme']];
  const found = [];
  for (const command of commands)
    found.push((await on.run([...command, '--format', 'json'], { env })).stdout);
  return found;
}
