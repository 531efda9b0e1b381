import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  SandboxError,
  type SandboxOptions,
  type SandboxSeed,
  startSandbox,
} from '../../../src/sandbox/sandbox.ts';
import { api, call, create, list, only, start } from './client.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function file(text?: string): string {
  files += 1;
  const path = join(folder, `file-${files}`);
  if (text !== undefined) writeFileSync(path, text);
  return path;
}

async function failure(options: SandboxOptions): Promise<SandboxError> {
  try {
    await (await startSandbox(options)).close();
  } catch (error) {
    if (error instanceof SandboxError) return error;
    throw error;
  }
  throw new Error('it started');
}

const wrongSeed = (seed: unknown) => failure({ seed: seed as SandboxSeed });

describe('the data file of a sandbox', () => {
  const seed: SandboxSeed = {
    accounts: [
      {
        name: 'acme',
        token: 'secret-token',
        id: '42',
        region: 'il',
        skills: ['Go', { name: 'Perl', id: 'p' }],
        roles: ['Dev'],
        resources: [{ role: 'Dev', skills: ['Go', 'Perl'], salary: { amount: 1 } }],
      },
    ],
  };

  it('keeps accounts, entries, order and people over a restart, and is seeded only once', async () => {
    const dataFile = file();
    const first = await startSandbox({ dataFile, seed });
    const address = first.regions.il;
    const reply = await call('POST', api(address, 'skill'), {
      token: 'secret-token',
      body: { name: 'Rust' },
    });
    expect(reply.status).toBe(201);
    await call('DELETE', api(address, 'skill/p'), { token: 'secret-token' });
    const before = first.state('acme');
    for (const part of ['', '-wal']) expect(statSync(`${dataFile}${part}`).mode & 0o777).toBe(0o600);
    await first.close();
    const second = await start({ dataFile, seed });
    expect(second.state('acme')).toEqual(before);
    expect(before.skills.map((each) => each.name)).toEqual(['Go', 'Rust']);
    expect(only(before.resources)).toMatchObject({ skills: ['Go'], role: 'Dev', salary: { amount: 1 } });
    expect(only(second.accounts)).toMatchObject({ id: '42', token: 'secret-token', region: 'il' });
  });

  it('receives generated accounts up to the requested number', async () => {
    const dataFile = file();
    await (await startSandbox({ dataFile, seed })).close();
    const { accounts } = await start({ dataFile, accounts: 3 });
    expect(accounts.map((each) => each.name)).toEqual(['acme', 'account-2', 'account-3']);
  });

  it('is refused if another sandbox uses it or if it is not a sandbox data file', async () => {
    const dataFile = file();
    await start({ dataFile });
    expect(await failure({ dataFile })).toMatchObject({ code: 'unavailable' });
    expect(await failure({ dataFile: file('this is no database, not at all '.repeat(50)) })).toMatchObject({
      code: 'file',
    });
    expect(await failure({ dataFile: join(folder, 'no', 'such', 'folder') })).toMatchObject({ code: 'file' });
  });
});

describe('a sandbox', () => {
  it('closes at once, even during responses, and can be closed twice', async () => {
    const sandbox = await startSandbox({ faults: [{ do: { type: 'latency', ms: 60_000 } }] });
    const waiting = expect(create(sandbox.url, 'skill', 'x')).rejects.toThrow();
    while (sandbox.requests().length === 0) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([sandbox.close(), sandbox.close()]);
    await waiting;
  });

  it('serves the same bytes for the same seed', async () => {
    const seed = {
      accounts: [{ name: 'acme', skills: ['Go', 'Go'], roles: ['Dev'], resources: [{ role: 'Dev' }] }],
    };
    const [first, second] = [await start({ seed }), await start({ seed })];
    for (const of of ['skill', 'role', 'resource']) {
      expect(await list(first.url, of)).toEqual(await list(second.url, of));
    }
    const ids = first.state('acme').skills.map((each) => each.id);
    expect(new Set(ids).size).toBe(2);
  });

  it('reads a seed and faults from files; the settings of the options override those of the seed', async () => {
    const seedFile = file('{"accounts":[{"name":"acme"}],"settings":{"createStatus":200,"trimNames":true}}');
    const faultsFile = file('[{"do":{"type":"status","status":503}}]');
    const sandbox = await start({ seedFile, faultsFile, settings: { trimNames: false } });
    expect((await create(sandbox.url, 'skill', ' x ')).status).toBe(503);
    expect((await create(sandbox.url, 'skill', ' x ')).status).toBe(200);
    expect(only(sandbox.state('acme').skills).name).toBe(' x ');
  });
});

describe('a problem of a sandbox file', () => {
  it.each(['{"accounts": [\n  {"name": "a",}\n]}', '[1, 2', ''])(
    'is reported where it is not JSON (%j)',
    async (text) => {
      const error = await failure({ seedFile: file(text) });
      expect(error.code).toBe('file');
      expect(error.message).toMatch(/file-\d+: not valid JSON: \S/);
    },
  );

  it('is reported with the file and every place', async () => {
    const seedFile = file('{"accounts":[{"nam":"a"},{"name":"b","region":"mars"}],"seetings":{}}');
    const error = await failure({ seedFile });
    expect(error.issues).toHaveLength(4);
    expect(error.issues.every((issue) => issue.startsWith(seedFile))).toBe(true);
    expect(error.message).toContain('seed.accounts[0]: unknown key "nam"; the keys are name, id');
    expect(error.message).toContain(
      'seed.accounts[1].region: should be one of "us", "eu", "au", "il", not "mars"',
    );
    expect((await failure({ seedFile: join(folder, 'missing.json') })).message).toContain(
      'cannot read the file',
    );
    expect((await failure({ faultsFile: file('[{"do":{"type":"fire"}}]') })).message).toContain(
      'faults[0].do',
    );
  });
});

describe('a problem of a sandbox seed, of faults or of settings', () => {
  it.each([
    ['not an object', [], /seed: should be an object/],
    ['no accounts', {}, /"accounts" is missing/],
    ['a duplicate name', { accounts: [{ name: 'a' }, { name: 'a' }] }, /same name/],
    ['a token with white space', { accounts: [{ name: 'a', token: 'x y' }] }, /visible ASCII/],
    [
      'an unknown role',
      { accounts: [{ name: 'a', resources: [{ role: 'R' }] }] },
      /no role "R"; add it to "roles"/,
    ],
    ['an unknown skill', { accounts: [{ name: 'a', resources: [{ skills: ['S'] }] }] }, /no skill "S"/],
    [
      'a duplicate id',
      { accounts: [{ name: 'a', skills: [{ name: 's', id: 'i' }], roles: [{ name: 'r', id: 'i' }] }] },
      /id i/,
    ],
    ['an invalid day', { accounts: [{ name: 'a', resources: [{ workingDays: [7] }] }] }, /workingDays\[0\]/],
    [
      'a wrong period',
      { accounts: [{ name: 'a', resources: [{ salary: { period: 'weekly' } }] }] },
      /period/,
    ],
    [
      'an invalid date',
      { accounts: [{ name: 'a', skills: [{ name: 's', createDate: 'now' }] }] },
      /ISO 8601/,
    ],
  ])('is reported: %s', async (_what, seed, message) => {
    expect((await wrongSeed(seed)).message).toMatch(message);
  });

  it.each([
    [{ match: { path: '(' }, do: { type: 'html' } }, /regular expression/],
    [{ match: { colour: 'red' }, do: { type: 'html' } }, /unknown key "colour"/],
    [{ do: { type: 'status' } }, /"status" is missing/],
    [{ do: { type: 'html', ms: 4 } }, /unknown key "ms"/],
    [{ times: 'often', do: { type: 'html' } }, /times/],
    [{ probability: 2, do: { type: 'html' } }, /from 0 to 1/],
    [{}, /"do" is missing/],
  ])('is reported for the rule %j', async (rule, message) => {
    expect((await failure({ faults: [rule] as never })).message).toMatch(message);
  });

  it.each([
    [{ createStatus: 300 }, /createStatus/],
    [{ latency: 5 }, /unknown key "latency"/],
    [{ rateLimit: { burst: 1 } }, /"requestsPerSecond" is missing/],
    [{ extraFields: { _id: 1 } }, /documented field/],
    [{ listedAccountId: { nobody: 'x' } }, /no account is named nobody/],
  ])('is reported for the settings %j', async (settings, message) => {
    expect((await failure({ settings: settings as never })).message).toMatch(message);
  });
});
