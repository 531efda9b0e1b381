import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import path from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Checkout } from '../../../src/git/checkout.ts';
import { remoteAccess } from '../../../src/git/checkout-repository.ts';
import type { GitSourceSettings, SecretRef } from '../../../src/core/settings.ts';
import { words, workspace } from '../config/workspace.ts';
import { resolveSecret } from '../../../src/config/secrets.ts';
import type { Secret } from '../../../src/core/secret.ts';

afterEach(() => vi.unstubAllEnvs());

const TOKEN = 'gl-s3cr3t/+t0ken';

interface TracedGit {
  /** The arguments of every call since the last reading, one text for each call. */
  calls(): string[];
  /** The names of all variables that any of these calls received. */
  variables(): Set<string>;
}

/** Puts the script before git in the PATH, until the test's environment is restored. */
function traceGit(): TracedGit {
  const folder = workspace({});
  const calls = path.join(folder, 'calls');
  const variables = path.join(folder, 'variables');
  const search = process.env['PATH'] ?? '';
  const script = [
    '#!/bin/sh',
    `{ printf '%s\\037' "$@"; echo; } >> '${calls}'`,
    `env -0 | tr '\\n\\0' '\\036\\n' | sed 's/=.*//' >> '${variables}'`,
    `PATH='${search}' exec git "$@"`,
  ];
  writeFileSync(path.join(folder, 'git'), `${script.join('\n')}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${search}`);
  return {
    calls: () => lines(calls),
    variables: () => new Set(lines(variables)),
  };
}

function lines(file: string): string[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  return text.split('\n').filter((line) => line !== '');
}

interface Host {
  readonly url: string;
  /** The Authorization header of each request, or none. */
  readonly headers: readonly (string | undefined)[];
}

/** A git server with the given answers; by default it rejects every request and repeats the Authorization header. */
async function startHost(
  answer: (request: IncomingMessage, response: ServerResponse) => void = refuse,
): Promise<Host> {
  const headers: (string | undefined)[] = [];
  const server: Server = createServer((request, response) => {
    headers.push(request.headers.authorization);
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}/owner/name.git`, headers };
}

function refuse({ headers }: IncomingMessage, response: ServerResponse): void {
  const message = `${headers.authorization ?? ''} is not welcome, nor is ${decoded(headers.authorization)}`;
  response
    .writeHead(401, { 'www-authenticate': 'Basic realm="git"', 'content-type': 'text/plain' })
    .end(message);
}

function decoded(header: string | undefined): string {
  return Buffer.from(header?.replace('Basic ', '') ?? '', 'base64').toString();
}

function settings(url: string, credentials?: SecretRef): GitSourceSettings {
  const fixed = { branch: 'main', path: 'config', intervalMs: 60_000 };
  return { url, ...fixed, ...(credentials === undefined ? {} : { credentials }) };
}

/** As the daemon resolves them. */
async function credentialsOf({ credentials }: GitSourceSettings): Promise<Secret | undefined> {
  return credentials === undefined ? undefined : await resolveSecret(credentials, 'git credentials');
}

async function refreshOnce(source: GitSourceSettings): Promise<{ reason: string; kept: string }> {
  const kept = path.join(workspace({}), 'checkout');
  const refresh = await (await Checkout.open(source, kept, () => credentialsOf(source))).refresh();
  return { reason: 'reason' in refresh ? refresh.reason : refresh.type, kept };
}

/** Every byte of every file below a folder. */
function everything(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => readFileSync(path.join(item.parentPath, item.name), 'latin1'))
    .join('\n');
}

describe('a token for git', () => {
  test('is sent to the server, and is not on the command line, on the disk or in a message', async () => {
    const host = await startHost();
    const traced = traceGit();
    vi.stubEnv('GIT_TOKEN', TOKEN);
    const { reason, kept } = await refreshOnce(settings(host.url, { env: 'GIT_TOKEN' }));
    expect(reason).toMatch(/^git failed: could not read Username .*; check /);
    expect(reason).toContain(`check ${host.url} (branch main), \`credentials\`, the network`);
    expect(host.headers.map(decoded)).toEqual(host.headers.map(() => `x-access-token:${TOKEN}`));
    expect(host.headers.length).toBeGreaterThan(0);
    const basic = host.headers[0]?.replace('Basic ', '') ?? '';
    for (const text of [traced.calls().join('\n'), everything(kept), reason]) {
      for (const secret of [TOKEN, basic]) expect(text).not.toContain(secret);
    }
  });

  test('is requested in the message when the server needs one and there is none', async () => {
    const host = await startHost();
    const { reason } = await refreshOnce(settings(host.url));
    expect(reason).toMatch(/^git failed: could not read Username .*; check .* `credentials`/);
    expect(host.headers).toEqual([undefined]);
  });

  test('is not sent to the target of a redirect', async () => {
    const other = await startHost();
    const host = await startHost((request, response) => {
      response.writeHead(302, { location: other.url + (request.url ?? '').replace(/^.*\.git/u, '') }).end();
    });
    vi.stubEnv('GIT_TOKEN', TOKEN);
    const { reason } = await refreshOnce(settings(host.url, { env: 'GIT_TOKEN' }));
    expect(reason).toMatch(/returned error: 302; check/);
    expect(other.headers).toEqual([]);
  });

  test('is removed from the messages of git in every form', async () => {
    vi.stubEnv('GIT_TOKEN', TOKEN);
    const source = settings('https://git.example.com/a.git', { env: 'GIT_TOKEN' });
    const { scrub, env } = await remoteAccess(source, () => credentialsOf(source));
    const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
    expect(JSON.stringify(env)).toContain(basic);
    const message = scrub(
      `fatal: ${TOKEN}, ${basic}: https://me:${TOKEN}@host/a and ssh://git@host/b, https://x:a@b@host/`,
    );
    expect(message).toBe('fatal: [redacted], [redacted]: https://host/a and ssh://host/b, https://host/');
  });
});

describe('git', () => {
  test('receives only the environment variables that it needs', async () => {
    const host = await startHost();
    const traced = traceGit();
    const others =
      'GIT_DIR GIT_TRACE GIT_CURL_VERBOSE GIT_ASKPASS SSH_ASKPASS ACME_TOKEN GIT_CONFIG_PARAMETERS';
    for (const name of words(others)) vi.stubEnv(name, '1');
    vi.stubEnv('https_proxy', 'http://127.0.0.1:1');
    vi.stubEnv('SSH_AUTH_SOCK', '/nowhere');
    await refreshOnce(settings(host.url));
    // The shell of the script that records them adds some of its own.
    const given = [...traced.variables()].filter((name) => !/^(?:PWD|OLDPWD|SHLVL|_)$/u.test(name));
    const needed = words(`
      PATH HOME TMPDIR SSH_AUTH_SOCK LC_ALL https_proxy http_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY
      ALL_PROXY all_proxy SSL_CERT_FILE SSL_CERT_DIR GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_TERMINAL_PROMPT
      GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_LITERAL_PATHSPECS GIT_ALLOW_PROTOCOL GIT_NO_LAZY_FETCH
    `);
    expect(given.filter((name) => !needed.includes(name))).toEqual([]);
    expect(given).toEqual(expect.arrayContaining(['PATH', 'https_proxy', 'SSH_AUTH_SOCK']));
  });

  test('uses the key file for ssh, does not prompt, and trusts no new host', async () => {
    const folder = workspace({ "a key's file": 'KEY' });
    const args = path.join(folder, 'args');
    const ssh = `#!/bin/sh\nprintf '%s\\n' "$@" > '${args}'\necho 'git@host: Permission denied (publickey).' >&2\nexit 255\n`;
    writeFileSync(path.join(folder, 'ssh'), ssh, { mode: 0o755 });
    vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
    const file = path.join(folder, "a key's file");
    const { reason } = await refreshOnce(settings('git@git.example.com:owner/name.git', { file }));
    expect(reason).toMatch(
      /^git failed: git@host: Permission denied \(publickey\)\..*; check git\.example\.com:/,
    );
    const given = readFileSync(args, 'utf8').split('\n');
    expect(given).toEqual(
      expect.arrayContaining(['BatchMode=yes', 'StrictHostKeyChecking=yes', 'IdentitiesOnly=yes']),
    );
    expect(given[given.indexOf('-i') + 1]).toBe(file);
    await refreshOnce(settings('ssh://git@git.example.com/owner/name.git'));
    expect(readFileSync(args, 'utf8')).not.toContain('-i\n');
  });
});
