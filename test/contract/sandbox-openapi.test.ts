// The OpenAPI document of the sandbox: it is valid, its examples describe one account, and every response matches it.
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Description, judge, problemsOf } from '../support/openapi.ts';

const BEARER = { authorization: 'Bearer sandbox-token-1' };
const BASE = '/api/public/v1';

interface Wire {
  readonly _id: string;
  readonly accountId: string;
  readonly roleId?: string | null;
  readonly skillsIds?: readonly string[];
}

let sandbox: Sandbox;
let description: Description;
let problemsWith: ReturnType<typeof judge>;

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
  description = (await (await fetch(`${sandbox.url}/openapi.json`)).json()) as Description;
  problemsWith = judge(description);
});

describe('the OpenAPI document of the sandbox', () => {
  it('is valid by the official schema of its version', async () => {
    expect(await problemsOf(description)).toEqual([]);
  });

  it('has examples that match their schemas and describe one consistent account', () => {
    const exampleOf = (path: string): Wire[] => {
      const { content } = description.paths[`${BASE}/${path}`]?.['get']?.responses['200'] ?? {};
      const { example } = (content as Record<string, { example: Wire[] }>)['application/json'] ?? {
        example: [],
      };
      const exchange = {
        method: 'GET',
        path: `${BASE}/${path}`,
        status: 200,
        contentType: 'application/json',
      };
      expect(problemsWith({ ...exchange, text: JSON.stringify(example) })).toEqual([]);
      return example;
    };
    const [skills, roles, people] = [exampleOf('skill'), exampleOf('role'), exampleOf('resource')];
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
  });
});

describe('the sandbox', () => {
  async function send(
    method: string,
    path: string,
    sent?: object,
    headers: Readonly<Record<string, string>> = BEARER,
  ): Promise<{ status: number; value: unknown; problems: readonly string[] }> {
    const reply = await fetch(`${sandbox.regions.us}${BASE}/${path}`, {
      method,
      headers: sent === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      body: sent === undefined ? null : JSON.stringify(sent),
    });
    const text = await reply.text();
    const { status } = reply;
    const contentType = reply.headers.get('content-type');
    const problems = problemsWith({ method, path: `${BASE}/${path}`, sent, status, contentType, text });
    return { status, value: JSON.parse(text), problems };
  }

  async function expectValid(status: number, method: string, path: string, sent?: object): Promise<unknown> {
    const reply = await send(method, path, sent);
    expect({ ...reply, path }).toMatchObject({ status, problems: [] });
    return reply.value;
  }

  it('responds as its OpenAPI document describes, errors included', async () => {
    expect(await expectValid(200, 'GET', 'resource')).toHaveLength(2);
    for (const kind of ['skill', 'role']) {
      sandbox.setSettings({ createStatus: 201, uniqueNames: 'exact' });
      const made = (await expectValid(201, 'POST', kind, { name: 'New' })) as Wire;
      await expectValid(409, 'POST', kind, { name: 'New' });
      sandbox.setSettings({ createStatus: 200, maxNameLength: 5 });
      await expectValid(200, 'POST', kind, { name: 'Other' });
      await expectValid(422, 'POST', kind, { name: 'too long' });
      expect(((await expectValid(200, 'GET', kind)) as Wire[]).map((each) => each._id)).toContain(made._id);
      expect(await expectValid(200, 'DELETE', `${kind}/${made._id}`)).toBeTypeOf('string');
      await expectValid(404, 'DELETE', `${kind}/${made._id}`);
    }
    sandbox.setFaults([{ do: { type: 'rate-limit', retryAfter: 1 } }]);
    await expectValid(429, 'GET', 'skill');
    const wrong = await send('GET', 'skill', undefined, { authorization: 'Bearer wrong' });
    expect(wrong).toMatchObject({ status: 401, problems: [] });
  });

  it('fails the check when a response does not match its OpenAPI document', async () => {
    sandbox.setFaults([{ do: { type: 'wrong-type', field: '_id' } }]);
    expect((await send('GET', 'skill')).problems.join()).toContain('_id');
  });
});
