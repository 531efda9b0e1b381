// Sessions in signed cookies: they outlive the process, and end with the token, with the key and with their time.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, describe, expect, it } from 'vitest';
import { StoreError } from '../../../../src/core/errors.ts';
import { Secret } from '../../../../src/core/secret.ts';
import { storedSessionKey } from '../../../../src/daemon/http/session-key.ts';
import type { HttpOptions } from '../../../../src/daemon/http/server.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts';
import { newFolder } from '../../store/fixture.ts';
import { HTML, memorySessions, READ_TOKEN, SESSION_KEY, signIn, start, TOKEN } from './stage.ts';

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
    expect(await statusAt({ sessionKey: new Secret(`${SESSION_KEY}.`) }, cookie)).toBe(401);
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
    const [holder = '', mark = '', end = '', id = ''] = payload.split(':');
    const sent = async (text: string) =>
      (await get('/', { ...HTML, cookie: `${name}=${encodeURIComponent(text)}` })).status;
    expect(await sent(`${holder}:${mark}:${end}:${id}.${signature}`)).toBe(200);
    for (const text of [
      `ci:${mark}:${end}:${id}.${signature}`,
      `${holder}:${mark.slice(1)}:${end}:${id}.${signature}`,
      `${holder}:${mark}:${end}0:${id}.${signature}`,
      `${holder}:${mark}:${end}:${id}x.${signature}`,
      `${holder}:${mark}:${end}:${id}.${signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
      `${holder}:${mark}:${end}:${id}.`,
      `${holder}:${mark}:${end}:${id}`,
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

  it('that was ended in one process is refused by every other, also after a restart', async () => {
    const endedSessions = memorySessions();
    const running = await start({ endedSessions });
    const [{ cookie }, other] = [await signIn(running), await signIn(running)];
    expect(await statusAt({ endedSessions }, cookie)).toBe(200);
    expect((await running.post('/sign-out', { cookie, origin: running.url })).status).toBe(303);
    expect(await statusAt({ endedSessions }, cookie)).toBe(401);
    expect(await statusAt({ endedSessions }, other.cookie)).toBe(200);
  });

  it('is refused while nobody can tell whether it was ended, and removed from the browser although its end is not stored', async () => {
    const failing = async () => Promise.reject(new StoreError('store_unavailable', 'not available'));
    const { cookie } = await signIn(await start());
    expect(await statusAt({ endedSessions: { end: failing, hasEnded: failing } }, cookie)).toBe(503);
    const running = await start({ endedSessions: { end: failing, hasEnded: async () => false } });
    const answer = await running.post('/sign-out', { cookie, origin: running.url });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('set-cookie')).toMatch(/^rolecall_session=; Max-Age=0/);
  });

  it('of another process may post only from a page of this server', async () => {
    const { cookie } = await signIn(await start());
    const { post, url } = await start();
    expect((await post(SYNC, { cookie })).status).toBe(403);
    expect((await post(SYNC, { cookie, origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(SYNC, { cookie, origin: url })).status).toBe(202);
  });
});

describe('the key of sessions', () => {
  const warnings: object[] = [];
  const log = { warn: (data: object) => void warnings.push(data) };
  const open = (file: string) => {
    const store = openSqliteStore(file);
    onTestFinished(() => store.close());
    return store;
  };

  it('is made once for each store, also by processes that start at the same time', async () => {
    const file = join(newFolder(), 'x.db');
    const keys = await Promise.all([1, 2, 3].map(() => storedSessionKey(open(file).settings, false, log)));
    const again = await storedSessionKey(open(file).settings, false, log);
    expect(new Set([...keys, again].map((key) => key.reveal())).size).toBe(1);
    expect(again.reveal()).toMatch(/^[\w-]{43}$/);
    const other = await storedSessionKey(open(join(newFolder(), 'y.db')).settings, false, log);
    expect(other.reveal()).not.toBe(again.reveal());
    expect(warnings).toEqual([]);
  });

  it('is one of this process where the store cannot keep it', async () => {
    const file = join(newFolder(), 'x.db');
    const store = open(file);
    rmSync(file);
    const keys = [
      await storedSessionKey(store.settings, false, log),
      await storedSessionKey(store.settings, false, log),
    ];
    expect(new Set(keys.map((key) => key.reveal())).size).toBe(2);
    expect(warnings).toMatchObject([
      { event: 'session_key_not_stored' },
      { event: 'session_key_not_stored' },
    ]);
  });

  it('is never one of this process where several share the store', async () => {
    const file = join(newFolder(), 'x.db');
    const store = open(file);
    rmSync(file);
    await expect(storedSessionKey(store.settings, true, log)).rejects.toThrow(StoreError);
  });
});
