// Addresses of databases: what is accepted, what is refused, and that a password is never shown.
import { describe, expect, it } from 'vitest';
import { parsePostgresUrl, publicUrl, shownDatabase } from '../../../src/system/postgres-address.ts';

function parsed(text: string) {
  const result = parsePostgresUrl(text);
  if ('problem' in result) throw new Error(result.problem);
  return result.value;
}

describe('the address of a database', () => {
  it.each([
    ['postgres://me@db.example.com/a', 'db.example.com/a', false],
    ['postgresql://me:s3cr3t@db.example.com:5433/a?sslmode=verify-full', 'db.example.com:5433/a', true],
    ['postgres:///a?host=/run/postgresql&user=me&port=5433', '/run/postgresql:5433/a', false],
    ['postgres://me@%2Frun%2Fpostgresql/a', '/run/postgresql/a', false],
    ['postgres://[::1]/a%20b?password=s3cr3t', '[::1]/a b', true],
  ])('%s is shown without its password', (text, shown, hasPassword) => {
    const address = parsed(text);
    expect(address.hasPassword).toBe(hasPassword);
    expect(shownDatabase(address.url)).toBe(shown);
    expect(publicUrl(address.url)).not.toContain('s3cr3t');
    expect(parsed(publicUrl(address.url)).hasPassword).toBe(false);
  });

  it.each([
    ['rolecall.db', 'not the address of a database'],
    ['postgres://one,two/a', 'one host and one database'],
    ['postgres://me@db/a b', 'not the address of a database'],
    ['postgres:///a', 'one host and one database'],
    ['postgres://db', 'one host and one database'],
    ['postgres://db/a/b', 'one host and one database'],
    ['postgres://db/%zz', 'one host and one database'],
    ['postgres://db/a?host=other', 'written twice'],
    ['postgres://me:x@db/a?password=y', 'written twice'],
    ['postgres://db/a?sslmode=disable&sslmode=verify-full', 'written twice'],
    ['postgres://db/a?sslmode=verify_full', 'sslmode must be disable, require, verify-ca or verify-full'],
    ['postgres://db/a?sslmod=verify-full', 'does not use'],
    ['postgres://db/a?uselibpqcompat=false', 'does not use'],
    ['postgres://db/a?sslrootcert=/ca.pem', 'add sslmode=verify-full'],
    ['postgres://db/a?sslmode=verify-ca', 'needs sslrootcert'],
    ['postgres://db/a?port=x', 'its port is not a number'],
  ])('%s is refused', (text, problem) => {
    expect(parsePostgresUrl(text)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it('gives the client the meaning of sslmode that psql has', () => {
    expect(parsed('postgres://db/a?sslmode=require').url).toContain('uselibpqcompat=true');
    expect(publicUrl(parsed('postgres://db/a?sslmode=require').url)).toBe('postgres://db/a?sslmode=require');
  });
});
