// The OpenAPI document of the daemon, checked by other programs: redocly's rules, and prism as a validating proxy.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MIXED } from '../unit/report/samples.ts';
import { BEARER, makeAccount, makeStage, open, PENDING, RUN_ID, start } from '../unit/daemon/http/stage.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const REDOCLY = `${root}test/long/node_modules/@redocly/cli/bin/cli.js`;
const PRISM = `${root}test/long/node_modules/@stoplight/prism-cli/dist/index.js`;

const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
const file = join(folder, 'openapi.json');
const children: ChildProcess[] = [];

beforeAll(async () => {
  const { get, close } = await open();
  const { text } = await get('/api/v1/openapi.json', BEARER);
  await close();
  writeFileSync(file, text);
});

afterAll(async () => {
  await Promise.all(children.map(stop));
  rmSync(folder, { recursive: true, force: true });
});

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Starts prism in front of a server and resolves with its address when it says that it listens. */
async function proxy(upstream: string): Promise<string> {
  const port = await freePort();
  const options = ['--host', '127.0.0.1', '--port', String(port), '--multiprocess', 'false'];
  const child = spawn(process.execPath, [PRISM, 'proxy', file, upstream, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  await new Promise<void>((resolve, reject) => {
    let output = '';
    const hear = (chunk: Buffer): void => {
      output += chunk.toString();
      if (output.includes('Prism is listening')) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', () => reject(new Error(`prism ended: ${output}`)));
  });
  return `http://127.0.0.1:${port}`;
}

describe('redocly', () => {
  it('finds nothing to say about the description', { timeout: 40_000 }, async () => {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [REDOCLY, 'lint', '--extends', 'recommended', '--format', 'json', file],
      {
        cwd: folder,
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    const found = JSON.parse(stdout) as { totals: object; problems: object[] };
    expect(found.problems, stderr).toEqual([]);
    expect(found.totals).toMatchObject({ errors: 0, warnings: 0 });
  });
});

describe('prism as a validating proxy in front of the server', () => {
  it('sees no violation in what the server answers, errors included', { timeout: 60_000 }, async () => {
    const approved = { digest: PENDING.digest, expiresAt: '2026-11-22T00:00:00.000Z' };
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
    const base = await proxy(running.url);
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
    await ask(200, 'POST', '/api/v1/plan', { config: 'a', files: { a: '' }, accounts: ['b'], commit: null });
    await ask(400, 'POST', '/api/v1/plan', { config: 'b', files: { a: '' } });
    running.stage.broken = new Error('no');
    await ask(500, 'GET', '/api/v1/accounts');
    running.stage.broken = null;
    Object.assign(running.stage, { overview: { ...running.stage.overview, version: 7 } });
    const wrong = await fetch(`${base}/api/v1/status`, { headers: BEARER });
    expect(wrong.headers.get('sl-violations')).toContain('version');
  });
});
