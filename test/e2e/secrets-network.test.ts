// The token is sent to the configured origin only: not where a redirect or a header points to, and not unencrypted
// through a proxy.
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { CANARY, leaksOf, PROXY_CANARY } from '../support/canary.ts';
import { canaryWorkspace } from '../support/canary-workspace.ts';
import { listen } from '../support/loopback.ts';
import { type Manner, startParrot } from '../support/parrot.ts';
import { arrayOf } from '../support/scene.ts';
import { costly } from '../support/thorough.ts';

const REDIRECTS = [301, 302, 303, 307, 308];

costly('no request with a secret follows a redirect or another address in a response', async () => {
  const elsewhere = await startParrot({});
  const targets: Readonly<Record<string, string>> = {
    port: `${elsewhere.url}/stolen/api/public/v1/skill`,
    path: '/stolen/api/public/v1/skill',
    relative: '../../../../stolen/api/public/v1/skill',
    scheme: `//${new URL(elsewhere.url).host}/stolen/api/public/v1/skill`,
    user: elsewhere.url.replace('http://', `http://${encodeURIComponent(CANARY)}@`),
  };
  const manners: Record<string, Manner> = {};
  // Every status with every target and every kind of request, but not every combination of the three.
  for (const [row, status] of REDIRECTS.entries()) {
    for (const [column, kind] of (['skill', 'resource', 'create', 'delete'] as const).entries()) {
      const [target, location] = Object.entries(targets)[(row + column) % 5] ?? ['', ''];
      const reply = { status, headers: { location, refresh: `0; url=${location}` }, body: '' };
      manners[`${kind}-${status}-${target}`] = { [kind]: () => reply };
    }
  }
  const location = targets['port'] ?? '';
  const pointers = {
    location,
    'content-location': location,
    refresh: `0; url=${location}`,
    link: `<${location}>; rel="prev"`,
    'alt-svc': `h2="${new URL(elsewhere.url).host}"`,
  };
  manners['pointers'] = { skill: () => ({ headers: pointers }), create: () => ({ headers: pointers }) };
  const parrot = await startParrot(manners);
  const w = canaryWorkspace();
  w.serve();
  for (const name of Object.keys(manners))
    w.account(name, `${parrot.url}/${name}`, 'skills: [Go, Perl, New]\nroles: [Dev]');

  const runs = arrayOf(
    await w.run(['apply', '--yes', '--all', '--accept', 'no_evidence', '--format', 'json']),
  );
  expect(runs).toHaveLength(Object.keys(manners).length);
  expect([...parrot.usedManners()].toSorted()).toEqual(Object.keys(manners).toSorted());
  const { stderr } = await w.run(['plan', '--server', `${parrot.url}/skill-301-port/api/public/v1/skill?`], {
    env: { ROLECALL_HTTP_TOKEN: CANARY },
  });
  expect(stderr).toContain('did not return a list of plans');

  expect(elsewhere.requests()).toEqual([]);
  expect(parrot.requests().filter((line) => line.includes('stolen'))).toEqual([]);
  expect(w.leaks()).toEqual([]);
  expect(w.leaksOnDisk()).toEqual([]);
});

interface Proxy {
  readonly address: string;
  /** The head of every request, and every byte of every tunnel that came from the program. */
  heard(): string;
}

/** A proxy that accepts every host name, and opens tunnels to one port of this machine. */
async function startProxy(port: number): Promise<Proxy> {
  let heard = '';
  const tunnels: Socket[] = [];
  const server = createServer((request, response) => {
    heard += `${request.method} ${request.url} ${request.rawHeaders.join(' ')}\n`;
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
  });
  server.on('connect', (request, socket: Socket) => {
    heard += `CONNECT ${request.url} ${request.rawHeaders.join(' ')}\n`;
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.on('data', (bytes: Buffer) => (heard += bytes.toString('latin1')));
      socket.pipe(upstream).pipe(socket);
    });
    tunnels.push(socket, upstream);
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  onTestFinished(() => tunnels.forEach((tunnel) => void tunnel.destroy()));
  return {
    address: (await listen(server)).replace('http://', `http://me:${PROXY_CANARY}@`),
    heard: () => heard,
  };
}

test('a proxy is not used for loopback addresses, and sees only the host of an https address', async () => {
  const parrot = await startParrot({});
  const proxy = await startProxy(Number(new URL(parrot.url).port));
  const w = canaryWorkspace();
  const hook = `notify: [{ url: "${parrot.url}/hook", events: [applied], secret: { env: HOOK_SECRET } }]`;
  w.serve(hook);
  w.account('here', `${parrot.url}/here`, 'skills: [Go, New]\nroles: [Dev]');
  w.account('far', 'https://planning.test/far', 'skills: [Go]');
  const env = { HTTP_PROXY: proxy.address, HTTPS_PROXY: proxy.address, NO_PROXY: '' };

  const runs = arrayOf<{ account: string; status: string; error: string | null }>(
    await w.run(['apply', '--yes', '--all', '--format', 'json'], { env }),
  );
  // The server behind the proxy does not support TLS, so the proxy receives only CONNECT requests.
  expect(runs.map(({ account, status }) => [account, status])).toEqual([
    ['far', 'failed'],
    ['here', 'held'],
  ]);
  expect(parrot.authorizations()).toContain(`Bearer ${CANARY}`);
  await w.run(['validate', '--online'], { env });
  await w.run(['plan', '--server', parrot.url], { env });
  expect(proxy.heard()).toMatch(/^CONNECT planning\.test:443/);
  const lines = proxy
    .heard()
    .split('\n')
    .filter((line) => /^[A-Z]+ \S+ /.test(line));
  expect(lines.filter((line) => !line.startsWith('CONNECT planning.test:443 '))).toEqual([]);
  // Its own password is the only secret that the proxy receives.
  expect(leaksOf(proxy.heard()).filter((leak) => !leak.includes('proxy password'))).toEqual([]);
  expect(w.leaks()).toEqual([]);
  expect(w.leaksOnDisk()).toEqual([]);
});

test('plain http to another machine uses a proxy only if the account has allowInsecure', async () => {
  const parrot = await startParrot({});
  const proxy = await startProxy(Number(new URL(parrot.url).port));
  const w = canaryWorkspace();
  w.serve();
  w.account('refused', 'http://planning.test/refused', 'skills: [Go]');
  w.account('allowed', 'http://planning.test/allowed', 'allowInsecure: true\nskills: [Go]');
  const { stdout } = await w.run(['plan', '--format', 'json'], { env: { HTTP_PROXY: proxy.address } });
  expect(JSON.parse(stdout)).toMatchObject([
    { account: 'allowed', status: 'planned' },
    { account: 'refused', status: 'failed' },
  ]);
  // Plain http also uses a tunnel, and the proxy can read the token in it: allowInsecure permits that.
  expect(proxy.heard()).toMatch(/^CONNECT planning\.test:80 /);
  expect(proxy.heard()).toContain(CANARY);
  expect(new Set(parrot.requests().map((line) => line.split(' ')[0]))).toEqual(new Set(['allowed']));
  expect(w.leaks()).toEqual([]);
});
