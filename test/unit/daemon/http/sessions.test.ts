// Sessions in signed cookies: they outlive the process, and end with the token, with the key and with their time.
import { join } from 'node:path';
import { onTestFinished, describe, expect, it } from 'vitest';
import { StoreError } from '../../../../src/core/errors.ts';
import { Secret } from '../../../../src/core/secret.ts';
import { sessionKeyIn } from '../../../../src/daemon/http/sign-in.tsx';
import type { HttpOptions } from '../../../../src/daemon/http/server.ts';
import { createStore } from '../../../../src/store/store.ts';
import { openSqlite } from '../../../../src/store/sqlite/database.ts';
import { newFolder } from '../../store/fixture.ts';
import { HTML, READ_TOKEN, SESSION_KEY, signIn, start, TOKEN } from './stage.ts';

const SYNC = '/api/v1/accounts/acme-eu/sync';

/** The status of a page that another process shows for the session. */
async function statusAt(options: Partial<HttpOptions>, cookie: string): Promise<number> {
  return (await (await start(options)).get('/', { ...HTML, cookie })).status;
}

const token = (value: string, role: 'read' | 'operate' = 'operate', name = 'http') => ({
  tokens: [{ name, role, token: new Secret(value) }],
});

describe('a session', () => {
  it('is valid in every process with the same key and token', async () => {
    const { cookie } = await signIn(await start());
    expect(await statusAt({}, cookie)).toBe(200);
    expect(await statusAt({ sessionKey: async () => new Secret(`${SESSION_KEY}.`) }, cookie)).toBe(401);
  });

  it('ends when its token is changed, removed or given another name, and has the present role of the token', async () => {
    const { cookie } = await signIn(await start());
    expect(await statusAt(token(TOKEN), cookie)).toBe(200);
    expect(await statusAt(token(`${TOKEN}.`), cookie)).toBe(401);
    expect(await statusAt(token(TOKEN, 'operate', 'other'), cookie)).toBe(401);
    expect(await statusAt(token(READ_TOKEN, 'read', 'ci'), cookie)).toBe(401);
    const reading = await start(token(TOKEN, 'read'));
    const answer = await reading.post(SYNC, { cookie, origin: reading.url });
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('role read')]);
  });

  it('is refused when any part of its cookie was changed', async () => {
    const { get, ...running } = await start();
    const { cookie } = await signIn({ get, ...running });
    const [name = '', value = ''] = cookie.split('=');
    const [payload = '', signature = ''] = decodeURIComponent(value).split('.');
    const [holder = '', mark = '', end = ''] = payload.split(':');
    const sent = async (text: string) =>
      (await get('/', { ...HTML, cookie: `${name}=${encodeURIComponent(text)}` })).status;
    expect(await sent(`${holder}:${mark}:${end}.${signature}`)).toBe(200);
    for (const text of [
      `ci:${mark}:${end}.${signature}`,
      `${holder}:${mark.slice(1)}:${end}.${signature}`,
      `${holder}:${mark}:${end}0.${signature}`,
      `${holder}:${mark}:${end}.${signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
      `${holder}:${mark}:${end}.`,
      `${holder}:${mark}:${end}`,
      `${holder}:::`,
      '',
    ]) {
      expect([text, await sent(text)]).toEqual([text, 401]);
    }
  });

  it('ends after twelve hours in every process, however long the browser keeps its cookie', async () => {
    const at = Date.UTC(2026, 10, 21);
    const { cookie } = await signIn(await start({ nowMs: () => at }));
    expect(await statusAt({ nowMs: () => at + 43_199_999 }, cookie)).toBe(200);
    expect(await statusAt({ nowMs: () => at + 43_200_000 }, cookie)).toBe(401);
  });

  it('is refused while its key cannot be read', async () => {
    const { cookie } = await signIn(await start());
    const sessionKey = async () => Promise.reject(new StoreError('store_unavailable', 'not available'));
    expect(await statusAt({ sessionKey }, cookie)).toBe(503);
  });
});

describe('the key of sessions', () => {
  const open = (file: string) => {
    const store = createStore(openSqlite({ file, leaseMs: 30_000 }));
    onTestFinished(() => store.close());
    return store;
  };

  it('is made once for each store, also by processes that start at the same time', async () => {
    const file = join(newFolder(), 'x.db');
    const keys = await Promise.all([1, 2, 3].map(() => sessionKeyIn(open(file).settings)()));
    const again = await sessionKeyIn(open(file).settings)();
    expect(new Set([...keys, again].map((key) => key.reveal())).size).toBe(1);
    expect(again.reveal()).toMatch(/^[\w-]{43}$/);
    const other = await sessionKeyIn(open(join(newFolder(), 'y.db')).settings)();
    expect(other.reveal()).not.toBe(again.reveal());
  });

  it('is read again after the store could not be read', async () => {
    let isBroken = true;
    const key = sessionKeyIn({
      async valueOr(_, value) {
        if (isBroken) throw new StoreError('store_unavailable', 'not available');
        return value;
      },
    });
    await expect(key()).rejects.toThrow(StoreError);
    isBroken = false;
    const first = await key();
    expect(await key()).toBe(first);
  });
});
