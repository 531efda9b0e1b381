// The service's own message in the error of a refusal.
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { serviceMessage } from '../../../src/service/service-message.ts';
import { client, json, serve, TOKEN } from './loopback.ts';

const SECRET = 'Zyx-salary-98765';
const NO_TOKEN = new Secret('');

function messageIn(body: unknown, aboutPeople = false): string | undefined {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return serviceMessage(text, { token: NO_TOKEN, aboutPeople });
}

describe('the message of an error response', () => {
  it.each([
    [{ detail: 'skill already exists' }, 'skill already exists'],
    [
      {
        detail: [
          { loc: ['body', 'name'], msg: 'too short', type: 'x', input: SECRET, ctx: { salary: SECRET } },
          { loc: ['body', 0], msg: 'missing', type: 'y' },
        ],
      },
      'body.name: too short; body.0: missing',
    ],
    [{ error: { message: 'no such account', code: 17 } }, 'no such account'],
    [{ error: 'invalid_token', error_description: 'it has expired' }, 'invalid_token; it has expired'],
    [{ message: 'slow down', statusCode: 429 }, 'slow down'],
    [{ title: 'Conflict', detail: 'exists', type: 'about:blank', status: 409 }, 'exists; Conflict'],
    [{ errors: ['one', 'two'] }, 'one; two'],
    [{ errors: [{ message: 'one' }, { detail: 'two' }] }, 'one; two'],
    [{ errors: { name: ['is taken', 'is long'] } }, 'name: is taken; name: is long'],
    [{ code: 'E17', hint: 'ask an administrator' }, 'code: E17; hint: ask an administrator'],
    [['one', 'two'], 'one; two'],
    ['"a JSON string"', 'a JSON string'],
    ['Bad Gateway\r\n', 'Bad Gateway'],
    [
      '<html><head><title>502 Bad\nGateway</title></head><body>nginx</body></html>',
      'a web page, “502 Bad Gateway”',
    ],
    ['<!doctype html><p>nothing', 'a web page'],
    ['<error><message>it exists</message></error>', 'it exists'],
  ])('is found in %j', (body, expected) => {
    expect(messageIn(body)).toBe(expected);
  });

  it.each([
    '',
    ' \n',
    '{}',
    '[]',
    'null',
    '{"detail":[]}',
    '{"detail":{}}',
    '{"detail":[{"input":"Zyx"}]}',
    '{"status":409}',
    '{"detail":[{"msg":"it exists"',
    `{"salary":"${SECRET}"}`,
    `{"people":[{"salary":{"currency":"${SECRET}"}}]}`,
    `{"detail":"${SECRET}"}`,
    SECRET,
  ])('is missing in %j', (body) => {
    expect(messageIn(body)).toBeUndefined();
  });

  it('is one line of at most 300 characters, whatever it contains', () => {
    const line = messageIn({ detail: `a\n\u001b[31mb\u2028c\u202ed\u0000\u200be ${'😀'.repeat(400)}` });
    expect(line).toMatch(/^a \[31mb c d e 😀+…$/u);
    expect(line?.length).toBeLessThanOrEqual(300);
  });
});

async function message(failing: Promise<unknown>): Promise<string> {
  return await failing.then(
    () => 'it did not fail',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe('a refusal', () => {
  async function refusal(status: number, body: string | object, method: 'list' | 'create'): Promise<string> {
    const server = await serve((response) =>
      typeof body === 'string' ? void response.writeHead(status).end(body) : json(response, body, status),
    );
    const { reader, writer } = await client(server.url, { retries: 0 });
    if (method === 'list') return await message(reader.listEntries('role'));
    const outcome = await writer.create('skill', 'Go', () => true);
    return outcome.type === 'failed' ? outcome.error.message : outcome.type;
  }

  it.each([401, 403, 404, 503])(
    'with status %d that is a web page is not reported as of the service',
    async (status) => {
      const message = await refusal(status, '<!doctype html><title>Access denied</title>', 'list');
      expect(message).toMatch(/a web page, “Access denied”; .*a proxy, a gateway or a firewall answered/);
      expect(message).not.toMatch(/the service rejected|the token|failure of the service/);
    },
  );

  it.each([
    ['Bearer tok-12345678', 'the token begins with “Bearer ”'],
    ['"tok-12345678"', 'the token has quotes around it'],
    ["'tok-12345678", 'the token has quotes around it'],
    ['ACME_TOKEN=tok-12345678', 'the token begins with “NAME=”'],
    ['export T="tok-12345678"', 'the token begins with “NAME=”'],
    ['tok-12345678==', "check the account's token reference"],
  ])(
    'with status 401 for a token like %j names what is around it, but not the token',
    async (text, words) => {
      const server = await serve((response) => json(response, { detail: 'no' }, 401));
      const { reader } = await client(server.url, {}, { token: () => Promise.resolve(new Secret(text)) });
      const reported = await message(reader.listEntries('skill'));
      expect(reported).toContain(words);
      expect(reported).not.toMatch(/tok-|ACME/);
    },
  );

  it.each([400, 401, 403, 404, 409, 422, 429, 500])(
    'with status %d names the list that was refused, with the message of the service',
    async (status) => {
      const server = await serve((response) => json(response, { detail: 'closed on Sundays' }, status));
      const { reader } = await client(server.url, { retries: 0 });
      const reported = await message(reader.listResources());
      expect(reported).toMatch(/the list of resources.*closed on Sundays/);
      if (status < 500) expect(await refusal(status, 'no', 'create')).toMatch(/the create of a skill.*: no/);
    },
  );

  it('shows no token, even if the body is cut off or splits the token', async () => {
    const broken = `${TOKEN.slice(0, 12)}\n${TOKEN}`;
    for (const body of [
      { detail: `${'y'.repeat(290)}${TOKEN}` },
      TOKEN,
      { message: broken },
      `<title>${TOKEN}</title>`,
    ])
      expect(await refusal(400, body, 'create')).not.toContain(TOKEN.slice(0, 12));
  });

  it('is reported although its body is endless, not text, or has an unknown encoding', async () => {
    const server = await serve((response, _, index) => {
      const headers = [{}, {}, { 'content-encoding': 'zstd' }][index] ?? {};
      response.writeHead(409, headers);
      response.write(index === 1 ? Buffer.from([0xff, 0xfe, 0x41]) : 'full ');
      if (index > 0) return void response.end();
      const timer = setInterval(() => response.write('x'.repeat(100_000)), 1);
      response.on('close', () => clearInterval(timer));
    });
    const { writer } = await client(server.url);
    for (let index = 0; index < 3; index += 1) {
      const outcome = await writer.create('skill', 'Go', () => true);
      expect(outcome).toMatchObject({ type: 'failed', error: { httpStatus: 409 } });
    }
  });
});
