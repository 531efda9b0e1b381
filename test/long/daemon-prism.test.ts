// The OpenAPI document of the daemon, checked by other programs: redocly's rules, and prism as a validating proxy.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { MIXED } from '../unit/report/samples.ts';
import { BEARER, makeAccount, makeStage, open, PENDING, RUN_ID, start } from '../unit/daemon/http/stage.ts';
import { startPrism } from './prism.ts';
import { lint } from './redocly.ts';

let file: string;

beforeEach(async () => {
  const { get, close } = await open();
  const { text } = await get('/api/v1/openapi.json', BEARER);
  await close();
  file = join(makeFolder(), 'openapi.json');
  writeFileSync(file, text);
});

describe('redocly', () => {
  it('finds no problem in the OpenAPI document of the daemon', { timeout: 40_000 }, async () => {
    expect(await lint(file)).toEqual([]);
  });
});

describe('prism as a validating proxy in front of the daemon', () => {
  it(
    'finds no violation in the responses of the daemon, including errors, and finds a wrong response',
    { timeout: 60_000 },
    async () => {
      const approved = { digest: PENDING.digest, by: 'http', expiresAt: '2026-11-22T00:00:00.000Z' };
      const odd = makeAccount('odd', {
        valid: false,
        issues: ['odd.yaml:1:1: no'],
        mode: null,
        schedule: null,
        timezone: null,
        region: null,
        remoteAccountId: null,
        nextRunAt: null,
        backoffUntil: '2026-11-21T06:00:00.000Z',
        approved,
        lastRun: null,
        lastSuccessAt: null,
      });
      const failed = {
        schemaVersion: 1,
        account: 'b',
        status: 'failed',
        error: { code: 'unauthorized', message: 'no' },
      } as const;
      const running = await start({}, { accounts: [...makeStage().accounts, odd], plans: [MIXED, failed] });
      const { url: base } = await startPrism('proxy', file, running.url);
      const ask = async (status: number, method: string, path: string, body: object | null = null) => {
        const reply = await fetch(`${base}${path}`, {
          method,
          headers: body === null ? BEARER : { ...BEARER, 'content-type': 'application/json' },
          body: body === null ? null : JSON.stringify(body),
        });
        const violations = reply.headers.get('sl-violations');
        expect({ path, status: reply.status, violations }).toEqual({ path, status, violations: null });
      };
      const account = '/api/v1/accounts/acme-eu';
      await ask(200, 'GET', '/healthz');
      await ask(200, 'GET', '/readyz');
      await ask(200, 'GET', '/metrics');
      await ask(200, 'GET', '/api/v1/openapi.json');
      await ask(200, 'GET', '/api/v1/status');
      await ask(200, 'GET', '/api/v1/accounts');
      await ask(200, 'GET', account);
      await ask(404, 'GET', '/api/v1/accounts/nobody');
      await ask(200, 'GET', '/api/v1/runs?account=acme-eu&status=held&since=7d&limit=10');
      await ask(200, 'GET', `/api/v1/runs/${RUN_ID}`);
      await ask(404, 'GET', '/api/v1/runs/ffff');
      await ask(202, 'POST', `${account}/sync`);
      running.stage.sync = 'stopping';
      await ask(503, 'POST', `${account}/sync`);
      await ask(404, 'POST', '/api/v1/accounts/nobody/sync');
      await ask(200, 'POST', `${account}/approve`, { digest: PENDING.digest });
      await ask(409, 'POST', `${account}/approve`, { digest: '00000000' });
      await ask(409, 'POST', '/api/v1/accounts/acme-us/approve', {});
      await ask(200, 'POST', `${account}/pause`);
      await ask(200, 'POST', `${account}/resume`);
      await ask(200, 'POST', '/api/v1/plan', {
        config: 'a',
        files: { a: '' },
        accounts: ['b'],
        commit: null,
      });
      await ask(400, 'POST', '/api/v1/plan', { config: 'b', files: { a: '' } });
      running.stage.broken = new Error('no');
      await ask(500, 'GET', '/api/v1/accounts');
      running.stage.broken = null;
      Object.assign(running.stage, { overview: { ...running.stage.overview, version: 7 } });
      const wrong = await fetch(`${base}/api/v1/status`, { headers: BEARER });
      expect(wrong.headers.get('sl-violations')).toContain('version');
    },
  );
});
