// The OpenAPI document of the daemon: it is valid, lists every path of the server, agrees with the published schemas of
// plans and runs, and every response matches it. Redocly and prism check the same in test/long/.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { buildApp } from '../../src/daemon/http/app.ts';
import { DEFAULT_LIMITS } from '../../src/daemon/http/limits.ts';
import { type Description as OpenApi, judge, problemsOf } from '../support/openapi.ts';
import { MIXED } from '../unit/report/samples.ts';
import {
  BEARER,
  makeAccount,
  makeStage,
  open,
  PENDING,
  REPLICA,
  RUN_ID,
  start,
} from '../unit/daemon/http/stage.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Description extends OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, Shape>> };
}

/** The parts of a JSON Schema that define which fields exist, and what they contain. */
interface Shape {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minItems?: number;
}

let description: Description;

beforeAll(async () => {
  const { get, close } = await open();
  const { text } = await get('/api/v1/openapi.json', BEARER);
  await close();
  description = JSON.parse(text) as Description;
});

describe('the OpenAPI document of the daemon', () => {
  it('is valid by the official schema of its version', async () => {
    expect(await problemsOf(description)).toEqual([]);
  });

  it('fails the check when a response is malformed or a reference does not resolve', async () => {
    const [path = ''] = Object.keys(description.paths);
    const broken = {
      get: { operationId: 'x', responses: { '200': { $ref: '#/components/responses/None' } } },
    };
    const without = { get: { operationId: 'x', responses: { '200': { content: 1 } } } };
    for (const item of [broken, without])
      expect(await problemsOf({ ...description, paths: { [path]: item } })).not.toEqual([]);
  });

  it('describes every path of the server except the pages', () => {
    const never = async () => Promise.reject(new Error('nobody asks'));
    const app = buildApp({
      tokens: [{ name: 'http', role: 'operate', token: new Secret('x') }],
      sessionKey: new Secret('x'),
      endedSessions: { end: never, hasEnded: never },
      trustedProxies: [],
      // The routes are only counted; none of these functions is called.
      daemon: {
        isStopping: () => false,
        overview: never,
        accountNames: () => [],
        accounts: never,
        account: never,
        accountFacts: never,
        runs: never,
        latestRuns: never,
        runJson: never,
        replicas: never,
        sync: async () => 'stopping',
        approve: never,
        runProgress: never,
        snapshots: never,
        trend: never,
        operatorActions: never,
        pause: never,
        resume: never,
        plan: never,
      },
      showPage: never,
      metrics: {
        contentType: '',
        text: () => Readable.from([]),
        wrongToken: () => undefined,
        connectionDropped: () => undefined,
      },
      notReady: never,
      outage: () => new AbortController().signal,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      limits: DEFAULT_LIMITS,
      nowMs: () => 0,
      steadyMs: () => 0,
      closing: new AbortController().signal,
    });
    const PROBES = ['/healthz', '/readyz', '/metrics'];
    const served = app.routes
      .filter(({ method, path }) => method !== 'ALL' && (path.startsWith('/api/') || PROBES.includes(path)))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)\{[^}]*\}/g, '{$1}')}`);
    const described = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual([...new Set(served)].toSorted());
  });

  it('describes every field of every schema', () => {
    const undescribed: string[] = [];
    function walk(node: unknown, place: string): void {
      if (typeof node !== 'object' || node === null) return;
      if ('properties' in node) {
        for (const [name, field] of Object.entries(node.properties as Record<string, object>)) {
          if (!('description' in field || '$ref' in field)) undescribed.push(`${place}.${name}`);
        }
      }
      for (const [key, each] of Object.entries(node)) walk(each, `${place}.${key}`);
    }
    walk(description.components.schemas, 'schemas');
    expect(undescribed).toEqual([]);
    expect(Object.keys(description.components.schemas).length).toBeGreaterThan(20);
  });

  it.each([
    ['Run', 'run.schema.json', 0],
    ['Plan', 'plan.schema.json', 0],
    ['FailedPlan', 'plan.schema.json', 1],
  ])('describes %s with the same schema as %s', (name, published, alternative) => {
    const schema = JSON.parse(readFileSync(`${root}config/schema/${published}`, 'utf8')) as Shape;
    const shape = schema.anyOf?.[alternative] ?? schema;
    expect(shapeOf({ $ref: `#/components/schemas/${name}` })).toEqual(shapeOf(shape));
  });
});

/** A schema without its descriptions, with references resolved and one spelling of `null`. */
function shapeOf(schema: Shape): unknown {
  const { $ref } = schema;
  if ($ref !== undefined) {
    return shapeOf(description.components.schemas[$ref.replace('#/components/schemas/', '')] ?? {});
  }
  const { anyOf = [], type = [], properties = {}, required = [] } = schema;
  if (anyOf.length > 0) return { anyOf: anyOf.map(shapeOf).flatMap(alternatives) };
  const [first, ...others] = typeof type === 'string' ? [type] : type;
  if (others.length > 0) {
    return { anyOf: [first, ...others].map((each) => shapeOf({ ...schema, type: each ?? '' })) };
  }
  if (first === 'null') return { type: 'null' };
  return {
    type: first === 'number' ? 'integer' : first,
    enum: schema.enum,
    const: schema.const,
    minItems: schema.minItems,
    items: schema.items === undefined ? undefined : shapeOf(schema.items),
    properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, shapeOf(each)])),
    required: required.toSorted(),
    closed: schema.additionalProperties === false,
  };
}

function alternatives(shape: unknown): unknown[] {
  const isUnion = typeof shape === 'object' && shape !== null && 'anyOf' in shape;
  return isUnion && Array.isArray(shape.anyOf) ? shape.anyOf : [shape];
}

describe('the daemon', () => {
  it('responds as its OpenAPI document describes, errors included', async () => {
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
    const accounts = [...makeStage().accounts, odd];
    const at = '2026-11-21T08:00:00.000Z';
    const actions = [
      { at, action: 'pause', by: 'ci', via: 'http', detail: null },
      { at, action: 'approve', by: 'alice', via: 'cli', detail: PENDING.digest },
    ] as const;
    const running = await start({}, { accounts, actions, plans: [MIXED, failed] });
    const problems = judge(description);
    const send = async (
      status: number,
      method: string,
      path: string,
      sent?: object,
    ): Promise<readonly string[]> => {
      const reply = await fetch(`${running.url}${path}`, {
        method,
        headers: sent === undefined ? BEARER : { ...BEARER, 'content-type': 'application/json' },
        body: sent === undefined ? null : JSON.stringify(sent),
      });
      const contentType = reply.headers.get('content-type');
      const text = await reply.text();
      expect([path, reply.status]).toEqual([path, status]);
      return problems({ method, path, status: reply.status, contentType, text, sent });
    };
    const expectValid = async (...request: Parameters<typeof send>): Promise<void> => {
      expect([request, await send(...request)]).toEqual([request, []]);
    };
    const account = '/api/v1/accounts/acme-eu';
    await expectValid(200, 'GET', '/healthz');
    await expectValid(200, 'GET', '/readyz');
    await expectValid(200, 'GET', '/metrics');
    await expectValid(200, 'GET', '/api/v1/openapi.json');
    await expectValid(200, 'GET', '/api/v1/status');
    running.stage.replicas = [REPLICA];
    await expectValid(200, 'GET', '/api/v1/replicas');
    await expectValid(200, 'GET', '/api/v1/accounts');
    await expectValid(200, 'GET', '/api/v1/accounts?limit=1&after=acme-eu');
    await expectValid(400, 'GET', '/api/v1/accounts?limit=0');
    await expectValid(200, 'GET', account);
    await expectValid(404, 'GET', '/api/v1/accounts/nobody');
    await expectValid(200, 'GET', `${account}/actions?limit=2`);
    await expectValid(400, 'GET', `${account}/actions?limit=0`);
    await expectValid(404, 'GET', '/api/v1/accounts/nobody/actions');
    await expectValid(200, 'GET', '/api/v1/runs?account=acme-eu&status=held&since=7d&limit=10');
    await expectValid(200, 'GET', `/api/v1/runs/${RUN_ID}`);
    await expectValid(404, 'GET', '/api/v1/runs/ffff');
    await expectValid(202, 'POST', `${account}/sync`);
    running.stage.sync = 'stopping';
    await expectValid(503, 'POST', `${account}/sync`);
    await expectValid(404, 'POST', '/api/v1/accounts/nobody/sync');
    await expectValid(200, 'POST', `${account}/approve`, { digest: PENDING.digest });
    await expectValid(409, 'POST', `${account}/approve`, { digest: '00000000' });
    await expectValid(409, 'POST', '/api/v1/accounts/acme-us/approve', {});
    await expectValid(200, 'POST', `${account}/pause`);
    await expectValid(200, 'POST', `${account}/resume`);
    await expectValid(200, 'POST', '/api/v1/plan', {
      config: 'a',
      files: { a: '' },
      accounts: ['b'],
      commit: null,
    });
    await expectValid(400, 'POST', '/api/v1/plan', { config: 'b', files: { a: '' } });
    running.stage.broken = new Error('no');
    await expectValid(500, 'GET', '/api/v1/accounts');
    running.stage.broken = null;
    Object.assign(running.stage, { overview: { ...running.stage.overview, version: 7 } });
    expect((await send(200, 'GET', '/api/v1/status')).join()).toContain('/version');
  });
});
