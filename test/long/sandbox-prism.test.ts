// The OpenAPI document of the sandbox, checked by other programs: redocly's rules, and prism as a mock and as a validating
// proxy.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { makeFolder } from '../support/folder.ts';
import { startPrism } from './prism.ts';
import { lint } from './redocly.ts';

const BEARER = { authorization: 'Bearer sandbox-token-1' };

let description: string;
let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await startSandbox({
    seed: {
      accounts: [
        {
          name: 'acme',
          skills: ['Go', 'Perl'],
          roles: ['Engineer'],
          resources: [{ role: 'Engineer', skills: ['Go'], salary: { amount: 1 } }, {}],
        },
      ],
    },
  });
  onTestFinished(() => sandbox.close());
  description = join(makeFolder(), 'openapi.json');
  writeFileSync(description, await (await fetch(`${sandbox.url}/openapi.json`)).text());
});

/** Starts prism and resolves with the base address of the service's API. */
async function prism(...parameters: readonly string[]): Promise<string> {
  return `${(await startPrism(...parameters)).url}/api/public/v1`;
}

interface Wire {
  readonly _id: string;
  readonly accountId: string;
  readonly roleId?: string | null;
  readonly skillsIds?: readonly string[];
}

async function read<T>(url: string): Promise<T> {
  const reply = await fetch(url, { headers: BEARER });
  expect(reply.status).toBe(200);
  return (await reply.json()) as T;
}

describe('redocly', () => {
  it('finds no problem in the OpenAPI document of the sandbox', { timeout: 40_000 }, async () => {
    expect(await lint(description)).toEqual([]);
  });
});

describe('prism as a mock', () => {
  it('lists one consistent account', { timeout: 40_000 }, async () => {
    const base = await prism('mock', description);
    const [skills, roles, people] = await Promise.all([
      read<Wire[]>(`${base}/skill`),
      read<Wire[]>(`${base}/role`),
      read<Wire[]>(`${base}/resource`),
    ]);
    const all = [...skills, ...roles, ...people];
    expect(Math.min(skills.length, roles.length, people.length)).toBeGreaterThan(1);
    expect(new Set(all.map((each) => each.accountId)).size).toBe(1);
    expect(new Set(all.map((each) => each._id)).size).toBe(all.length);
    const skillIds = new Set(skills.map((each) => each._id));
    const roleIds = new Set(roles.map((each) => each._id));
    for (const person of people) {
      expect((person.skillsIds ?? []).every((id) => skillIds.has(id))).toBe(true);
      expect(typeof person.roleId === 'string' ? roleIds.has(person.roleId) : true).toBe(true);
    }
    expect(people.some((person) => person.skillsIds?.length)).toBe(true);
    const created = await fetch(`${base}/skill`, {
      method: 'POST',
      headers: { ...BEARER, 'content-type': 'application/json' },
      body: '{"name":"PostgreSQL"}',
    });
    expect([200, 201]).toContain(created.status);
    expect((await created.json()) as Wire).toMatchObject({
      accountId: skills[0]?.accountId,
      name: 'PostgreSQL',
    });
    const deleted = await fetch(`${base}/role/${roles[0]?._id}`, { method: 'DELETE', headers: BEARER });
    expect([deleted.status, typeof (await deleted.json())]).toEqual([200, 'string']);
    expect((await fetch(`${base}/skill`)).status).toBe(401);
  });
});

describe('prism as a validating proxy in front of the sandbox', () => {
  it(
    'finds no violation in the responses of the sandbox, including errors',
    { timeout: 40_000 },
    async () => {
      const base = await prism('proxy', description, sandbox.regions.us);
      const ask = async (
        method: string,
        path: string,
        body: object | null,
        headers: Record<string, string> = BEARER,
      ) => {
        const reply = await fetch(`${base}/${path}`, {
          method,
          headers: body === null ? headers : { ...headers, 'content-type': 'application/json' },
          body: body === null ? null : JSON.stringify(body),
        });
        const text = await reply.text();
        return { status: reply.status, violations: reply.headers.get('sl-violations'), text };
      };
      const expectValid = async (
        status: number,
        method: string,
        path: string,
        body: object | null = null,
      ) => {
        const reply = await ask(method, path, body);
        expect({ ...reply, path }).toMatchObject({ status, violations: null });
        return JSON.parse(reply.text) as unknown;
      };
      expect(await expectValid(200, 'GET', 'resource')).toHaveLength(2);
      for (const kind of ['skill', 'role']) {
        sandbox.setSettings({ createStatus: 201, uniqueNames: 'exact' });
        const created = (await expectValid(201, 'POST', kind, { name: 'New' })) as Wire;
        await expectValid(409, 'POST', kind, { name: 'New' });
        sandbox.setSettings({ createStatus: 200, maxNameLength: 5 });
        await expectValid(200, 'POST', kind, { name: 'Other' });
        await expectValid(422, 'POST', kind, { name: 'too long' });
        expect(((await expectValid(200, 'GET', kind)) as Wire[]).map((each) => each._id)).toContain(
          created._id,
        );
        expect(await expectValid(200, 'DELETE', `${kind}/${created._id}`)).toBeTypeOf('string');
        await expectValid(404, 'DELETE', `${kind}/${created._id}`);
      }
      sandbox.setFaults([{ do: { type: 'rate-limit', retryAfter: 1 } }]);
      await expectValid(429, 'GET', 'skill');
      const wrong = await ask('GET', 'skill', null, { authorization: 'Bearer wrong' });
      expect(wrong).toMatchObject({ status: 401, violations: null });
    },
  );

  it('finds the violation in a wrong response', { timeout: 40_000 }, async () => {
    const base = await prism('proxy', description, sandbox.regions.us);
    sandbox.setFaults([{ do: { type: 'wrong-type', field: '_id' } }]);
    const reply = await fetch(`${base}/skill`, { headers: BEARER });
    expect(reply.headers.get('sl-violations')).toContain('_id');
  });
});
