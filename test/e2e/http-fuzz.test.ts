// Random HTTP requests against a daemon: they must reveal and change nothing forbidden, and it must answer other
// clients. A few hundred, and twenty thousand in the long tests.
import { connect, type Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { type Daemon, ONCE_A_YEAR, startDaemon } from '../support/daemon.ts';
import { pick, randomNumbers } from '../support/random.ts';
import { scene, type Scene } from '../support/scene.ts';
import { isThorough, someOf, times } from '../support/thorough.ts';

/** Who sends the requests: a client without a token, one with a read-only token, or one on this machine. */
type Intruder = 'stranger' | 'reader' | 'local';

const SEED = Number(process.env['ROLECALL_FUZZ_SEED'] ?? 0);
const READ_TOKEN = 'a-token-that-only-looks';
/** Part of the names of an account and of a skill: a response that contains it reveals protected data. */
const CANARY = 'canary7hq';
const AT_ONCE = 40;
const LONGEST_MS = 1500;

const USUAL = ['GET', 'POST'];
const METHODS = ['PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'PRI', ''];
const OPEN = ['/healthz', '/readyz', '/metrics', '/sign-in'];
const ACCOUNT = `/api/v1/accounts/${CANARY}`;
const PATHS = [
  ...OPEN,
  '/',
  '/api/v1/accounts',
  '/api/v1/status',
  '/api/v1/runs',
  '/api/v1/plan',
  '/sign-out',
  `/accounts/${CANARY}`,
  ACCOUNT,
  ...['sync', 'approve', 'pause', 'resume'].flatMap((action) => [
    `${ACCOUNT}/${action}`,
    `/accounts/${CANARY}/${action}`,
  ]),
];
const TWISTS: readonly ((path: string) => string)[] = [
  // Most paths stay unchanged.
  ...Array.from({ length: 12 }, () => (path: string) => path),
  (path) => `/${path}`,
  (path) => `${path}/`,
  (path) => `${path}?x=1`,
  (path) => `${path}%00`,
  (path) => `${path};a`,
  (path) => `/healthz/..${path}`,
  (path) => `/healthz/%2e%2e${path}`,
  (path) => `/sign-in${path}`,
  (path) => `${path}#/healthz`,
  (path) => path.toUpperCase(),
  (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => `http://127.0.0.1${path}`,
  (path) => `*${path}`,
  (path) => path.slice(0, -1),
  () => '*',
  () => '',
];
const LINES = [
  'Authorization: Bearer ',
  'Authorization: Bearer wrong-token-of-a-stranger',
  'Authorization: Basic dXNlcjpwYXNz',
  'Authorization: Bearer undefined',
  'Authorization:Bearer\tx',
  'Cookie: rolecall_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'Cookie: __Host-rolecall_session=; rolecall_session=%00',
  'X-Forwarded-For: 127.0.0.1',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: localhost',
  'X-HTTP-Method-Override: POST',
  'X-Original-URL: /healthz',
  'Origin: null',
  'Origin: http://127.0.0.1',
  'Sec-Fetch-Site: cross-site',
  'Sec-Fetch-Site: same-origin',
  'Accept: text/html',
  'Accept: application/json',
  'Content-Type: application/json',
  'Content-Type: application/x-www-form-urlencoded',
  'Expect: 100-continue',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Range: bytes=0-10',
];
const BROKEN_LINES = [
  'Transfer-Encoding: chunked',
  'Content-Length: 5',
  'Content-Length: 99999999999',
  'Content-Length: -1',
  'bad header line',
  `X-Long: ${'y'.repeat(20_000)}`,
];
const HOSTS = [
  'Host: 127.0.0.1',
  'Host: localhost',
  'Host: evil.example',
  'Host: ',
  'Host: 127.0.0.1\r\nHost: evil',
];
const BODIES = [
  '',
  '',
  '{}',
  '{"digest":null}',
  'token=x&next=/',
  '[[[[',
  '{"config":"a","files":{"a":""}}',
  '\0\0\0',
  '5\r\nhello\r\n0\r\n\r\n',
  'x'.repeat(70_000),
];

interface FuzzRequest {
  readonly path: string;
  readonly bytes: string;
  /** Whether the connection stays open without the end of the request. */
  readonly isHalf: boolean;
}

function makeRequest(random: () => number, intruder: Intruder): FuzzRequest {
  const method = pick(random, random() < 0.75 ? USUAL : METHODS) ?? 'GET';
  const path = (pick(random, TWISTS) ?? String)(pick(random, PATHS) ?? '/');
  const lines = Array.from({ length: Math.floor(random() * 4) }, () => pick(random, LINES) ?? '');
  const token = intruder === 'reader' && random() < 0.8 ? [`Authorization: Bearer ${READ_TOKEN}`] : [];
  if (random() < 0.15) lines.push(pick(random, BROKEN_LINES) ?? '');
  const host = random() < 0.8 ? 'Host: 127.0.0.1' : (pick(random, HOSTS) ?? '');
  const version = random() < 0.95 ? 'HTTP/1.1' : 'HTTP/1.0';
  const body = pick(random, BODIES) ?? '';
  const length = random() < 0.95 ? [`Content-Length: ${Buffer.byteLength(body)}`] : [];
  const head = [
    `${method} ${path} ${version}`,
    host,
    'Connection: close',
    ...token,
    ...lines,
    ...length,
  ].join('\r\n');
  const complete = `${head}\r\n\r\n${body}`;
  const isHalf = random() < 0.1;
  return {
    path,
    isHalf,
    bytes: isHalf ? complete.slice(0, Math.floor(random() * complete.length)) : complete,
  };
}

/** Sends the bytes. Resolves with the response when the server closes the connection or the time limit ends. */
function send(port: number, { bytes, isHalf }: FuzzRequest): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    const timer = setTimeout(() => socket.destroy(), isHalf ? 200 : LONGEST_MS);
    socket.setEncoding('latin1').on('data', (chunk) => (text += String(chunk)));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}

/** Requests /healthz until the returned function is called, which resolves with the slowest answer in milliseconds. */
function probe(daemon: Daemon): () => Promise<number> {
  let isEnding = false;
  let slowestMs = 0;
  async function keepAsking(): Promise<void> {
    while (!isEnding) {
      const startedMs = performance.now();
      expect((await daemon.get('/healthz')).status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  const asking = keepAsking();
  return async () => {
    isEnding = true;
    await asking;
    return slowestMs;
  };
}

/** Every row that a request could have changed. */
function rowsOf(setting: Scene): string {
  return JSON.stringify(
    ['accounts', 'runs', 'operations', 'snapshots'].map((table) => setting.rows(`select * from ${table}`)),
  );
}

/** The longest lag of the event loop since the last scrape, if the text is metrics. */
function lagIn(text: string): number {
  const [, seconds = '0'] = /^rolecall_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text) ?? [];
  return Number(seconds) * 1000 || 0;
}

/** The path as the server decodes it. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Expects a 2xx only where no token is needed or this token can read, and no protected data for a stranger. */
function judge(answer: string, request: FuzzRequest, intruder: Intruder): string {
  const [, status = 'none'] = /^HTTP\/1\.[01] (\d{3})/.exec(answer) ?? [];
  const method = request.bytes.split(' ')[0] ?? '';
  const what = JSON.stringify(request.bytes.slice(0, 300));
  const path = decoded(request.path.split('?')[0] ?? '');
  const mayRead = intruder !== 'stranger' && (['GET', 'HEAD'].includes(method) || path === '/api/v1/plan');
  if (status.startsWith('2') && !OPEN.includes(path) && !mayRead) expect.fail(`${status} for ${what}`);
  if (status.startsWith('5') && status !== '503' && status !== '501') expect.fail(`${status} for ${what}`);
  if (/set-cookie: *[^;]*=[^;]/i.test(answer)) expect.fail(`a session for ${what}`);
  // Metrics contain account names, and the sign-in form contains the requested path.
  if (
    intruder === 'stranger' &&
    path !== '/metrics' &&
    answer.includes(CANARY) &&
    !/next" value="/.test(answer)
  ) {
    expect.fail(`an account is shown for ${what}`);
  }
  return status;
}

const SERVICE: Readonly<Record<Intruder, string>> = {
  stranger: 'token: { env: ROLECALL_HTTP_TOKEN }',
  reader: 'token: { env: ROLECALL_HTTP_TOKEN }, tokens: [{ name: ci, token: { env: CI }, role: read }]',
  local: '',
};

/** A daemon with a plan that waits for approval, which an intruder could try to change. */
async function target(intruder: Intruder): Promise<{ readonly daemon: Daemon; readonly setting: Scene }> {
  const http = `http: { listen: 127.0.0.1:0${SERVICE[intruder] === '' ? '' : `, ${SERVICE[intruder]}`} }`;
  const setting = await scene({
    others: [{ name: CANARY, token: `token-of-${CANARY}`, skills: [`skill-${CANARY}`] }],
    service: [`defaults: { mode: approve, schedule: ${ONCE_A_YEAR}, jitter: 0s }`, http].join('\n'),
  });
  setting.configure('skills: []');
  setting.configure('skills: [Go]', CANARY);
  const daemon = await startDaemon(setting, { env: { CI: READ_TOKEN } });
  await setting.until(
    'a plan waits',
    () => daemon.runsEnded(CANARY, 'planned') > 0 && daemon.runsEnded('acme') > 0,
  );
  return { daemon, setting };
}

test.each(
  someOf(
    [
      ['stranger', times(250, 8000), 1],
      ['reader', times(150, 6000), 2],
      ['local', times(150, 6000), 3],
    ] as const,
    2,
  ),
)(
  'random requests of a %s reveal and change nothing that is forbidden, and do not stop the daemon',
  async (intruder, count, seed) => {
    const { daemon, setting } = await target(intruder);
    const port = Number(new URL(daemon.url).port);
    const before = rowsOf(setting);
    const random = randomNumbers(SEED + seed);
    let [sent, answered, lagMs] = [0, 0, 0];
    // Resets the maximum of the event-loop lag, so that the start does not count.
    await daemon.get('/metrics');
    const ownLag = monitorEventLoopDelay({ resolution: 10 });
    ownLag.enable();
    const endProbe = probe(daemon);
    async function keepSending(): Promise<void> {
      while (sent < count) {
        sent += 1;
        const request = makeRequest(random, intruder);
        const answer = await send(port, request);
        if (judge(answer, request, intruder) !== 'none') answered += 1;
        lagMs = Math.max(lagMs, lagIn(answer));
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, keepSending));
    const slowestMs = await endProbe();
    lagMs = Math.max(lagMs, lagIn((await daemon.get('/metrics')).text));
    expect(rowsOf(setting)).toBe(before);
    expect(daemon.log().filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect(daemon.events('operator_action')).toEqual([]);
    expect(answered).toBeGreaterThan(count / 2);
    // Other tests use the processors at the same time.
    expect(lagMs).toBeLessThan(isThorough ? 250 + ownLag.max / 1e6 : 1000);
    expect(slowestMs).toBeLessThan(1500);
    await daemon.stop();
  },
);
