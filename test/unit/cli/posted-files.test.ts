// Reads the files of a posted plan: each account has its own errors, and no post costs much.
import { afterEach, describe, expect, it } from 'vitest';
import { readPostedFiles } from '../../../src/cli/daemon-source.ts';
import type { SecretUse } from '../../../src/core/settings.ts';

const SERVICE = 'accounts: accounts/*.yaml\nregions: { eu: "https://eu.example.com" }\n';

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

/** Posts these files, with accounts a0, a1, … of this text. */
async function read(
  { files, accounts = 0, text = '' }: { files?: Record<string, string>; accounts?: number; text?: string },
  own: readonly SecretUse[] = [],
) {
  const many = range(accounts).map((index) => [
    `accounts/a${index}.yaml`,
    `region: eu\ntoken: { env: A${index} }\n${text}\n`,
  ]);
  const posted = { 'rolecall.yaml': SERVICE, ...files, ...Object.fromEntries(many) };
  return await readPostedFiles(Buffer.from(JSON.stringify({ config: 'rolecall.yaml', files: posted })), own);
}

async function accountsOf(...given: Parameters<typeof read>) {
  const found = await read(...given);
  if ('problem' in found) throw new Error(found.problem);
  return found;
}

const BAD = 'region: eu\ntoken: { env: TOKEN_OF_BAD }\nan-unlikely-key: [Go]\n';

describe('the reader of posted files', () => {
  afterEach(() => void delete process.env['TOKEN_OF_BAD']);

  it('returns each account, and of an invalid one its own errors only', async () => {
    const posted = await accountsOf({
      files: {
        'accounts/bad.yaml': BAD,
        'accounts/good.yaml': 'region: eu\ntoken: { env: A }\nskills: [Go]\n',
        'accounts/worse.yaml': BAD.replace('eu', 'mars').replace('TOKEN_OF_BAD', 'B'),
      },
    });
    expect(posted.names).toEqual(['bad', 'good', 'worse']);
    const [bad, good, none] = ['bad', 'good', 'none'].map((name) => posted.account(name));
    expect(bad?.failure).toMatchObject({ code: 'config_invalid' });
    expect(bad?.failure?.message).toMatch(/^accounts\/bad\.yaml:3:1: [^\n]*an-unlikely-key[^\n]*$/);
    expect(good?.settings).toMatchObject({ name: 'good', baseUrl: 'https://eu.example.com' });
    expect([none?.settings, none?.failure]).toEqual([undefined, undefined]);
  });

  it('reads no secret of its machine, except a token of its own configuration to remove it from messages', async () => {
    process.env['TOKEN_OF_BAD'] = 'an-unlikely-key';
    const files = { 'accounts/bad.yaml': BAD };
    const messageFor = async (own: readonly SecretUse[]) =>
      (await accountsOf({ files }, own)).account('bad').failure?.message;
    const use = { ref: { env: 'TOKEN_OF_BAD' }, what: '', file: '', line: 1, column: 1 };
    expect(await messageFor([{ ...use, account: 'bad' }])).not.toContain('an-unlikely-key');
    expect(await messageFor([])).toContain('an-unlikely-key');
    expect(await messageFor([use])).toContain('an-unlikely-key');
  });

  it('refuses an invalid service file with its errors once', async () => {
    const wrong = read({ files: { 'rolecall.yaml': `${SERVICE}acounts: x\n` }, accounts: 2 });
    await expect(wrong).rejects.toThrow(/^rolecall\.yaml:3:1: [^\n]*acounts[^\n]*$/);
  });

  it('refuses accounts that have too many names or errors together', async () => {
    const names = {
      'catalog.yaml': `skills:\n${range(19_000)
        .map((index) => `  - n${index}\n`)
        .join('')}`,
    };
    const text = 'extends: [../catalog.yaml]';
    await expect(read({ files: names, accounts: 4, text })).rejects.toThrow(
      'more than 60000 names and errors',
    );
    const errors = Object.fromEntries(
      range(20).map((at) => [`c${at}.yaml`, `skills: [${'1,'.repeat(220)}]`]),
    );
    const all = `extends: [${range(20)
      .map((at) => `../c${at}.yaml`)
      .join(',')}]`;
    await expect(read({ files: errors, accounts: 20, text: all })).rejects.toThrow('60000 names and errors');
  });

  it('refuses more than five hundred accounts, and a body that is not JSON', async () => {
    expect(await accountsOf({ accounts: 500, text: 'skills: [Go]' })).toMatchObject({ commit: null });
    expect(await read({ accounts: 501 })).toEqual({ problem: expect.stringContaining('at most 500') });
    expect(await readPostedFiles(Buffer.from('{'), [])).toEqual({ problem: 'the body is not JSON' });
  });
});
