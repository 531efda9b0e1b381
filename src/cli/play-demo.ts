// The demo: plans and applies an account that differs from its file, on a sandbox in this process. It runs the same
// commands as a user. With `--serve` the daemon runs on the account afterwards, with a plan that waits for an approval.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { demoSeed } from '../sandbox/seed.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import type { CommandContext } from './compose.ts';
import { applyToAccounts } from './apply-accounts.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { planAccounts } from './plan-accounts.ts';
import { serve } from './serve.ts';

const TEXT = { format: 'text' } as const;
const SAVED = { save: 'plan.json' } as const;
const APPLY = { plan: SAVED.save, allowHeld: true, lockTimeout: 10_000 };

const STORY = [
  'acme has 8 skills, 3 roles and 3 people. Its file',
  '  - adds “Go”, and renames “K8s” to “Kubernetes”: ada and grace have “K8s”;',
  '  - no longer lists “Perl”, which ada has, nor “COBOL”, “Photoshop” and the role “Webmaster”, which nobody has;',
  '  - protects “Admin tools”.',
  'A first plan has stored its lists already: on a new store, every delete is held.',
];

const ACCOUNT = `region: eu
accountId: '4815162342'
token: { file: ../../token }
mode: approve
policy: { protect: ['Admin*'] }
skills: [Figma, Go, { name: Kubernetes, formerly: [K8s] }, PostgreSQL, TypeScript]
roles: [Backend engineer, Designer]
`;

/** Runs the demo, and with `--serve` the daemon afterwards. Resolves with 0 when every step had the expected result. */
export async function playDemo(given: CommandContext, servesPages: boolean): Promise<ExitStatus> {
  const sandbox = await startSandbox({ seed: demoSeed('acme') });
  const folder = await mkdtemp(path.join(tmpdir(), 'rolecall-demo-'));
  const before = process.cwd();
  // So that reports name the files as in a folder of the user.
  process.chdir(folder);
  try {
    const context = { ...given, configFile: path.join(folder, 'config/rolecall.yaml') };
    const httpToken = randomBytes(32).toString('hex');
    await mkdir(path.join(folder, 'config/accounts'), { recursive: true });
    await writeFile(context.configFile, serviceText(sandbox));
    await writeFile(path.join(folder, 'config/accounts/acme.yaml'), ACCOUNT);
    await writeFile(path.join(folder, 'token'), sandbox.accounts[0]?.token ?? '', { mode: 0o600 });
    await writeFile(path.join(folder, 'http-token'), httpToken, { mode: 0o600 });
    // A first plan makes history: a plan on a new store holds every delete.
    await planAccounts(context, ['acme'], { ...TEXT, output: path.join(folder, 'first-plan.txt') });
    print(STORY);
    const exit = await runSteps(context);
    if (exit !== EXIT.done || !servesPages) {
      if (exit === EXIT.done) print(['', ...NEXT]);
      return exit;
    }
    const go = sandbox.state('acme').skills.find(({ name }) => name === 'Go');
    sandbox.removeEntry('acme', go?.id ?? '');
    sandbox.addSkill('acme', 'Flash');
    return await servePages(context, httpToken);
  } finally {
    process.chdir(before);
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the daemon, and a server of one link that signs a browser in, once: a browser sends a cookie to every port. */
async function servePages(context: CommandContext, token: string): Promise<ExitStatus> {
  const links = new Set([`/${randomBytes(16).toString('hex')}`]);
  const [link = ''] = links;
  let pages = '';
  const cookies = async (): Promise<string[]> => {
    const body = new URLSearchParams({ token });
    const answer = await fetch(`${pages}/sign-in`, { method: 'POST', body, redirect: 'manual' });
    return answer.headers.getSetCookie();
  };
  const server = createServer((request, response) => {
    const signIn =
      request.method === 'GET' && links.delete(request.url ?? '') ? cookies() : Promise.resolve([]);
    signIn.then(
      (cookie) => response.writeHead(303, { location: `${pages}/accounts/acme`, 'set-cookie': cookie }).end(),
      () => response.writeHead(502).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server that listens has an AddressInfo
  try {
    const status = await serve(context, (url) => {
      pages = url;
      print(['', ...welcome(`http://127.0.0.1:${port}${link}`, context.configFile)]);
    });
    return status === 0 ? EXIT.done : EXIT.failed;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function runSteps(context: CommandContext): Promise<ExitStatus> {
  heading('1. Dry run: what rolecall would create, delete and hold', 'rolecall plan acme --save plan.json');
  const planned = await planAccounts(context, ['acme'], { ...TEXT, ...SAVED, detailedExitcode: true });
  if (planned !== EXIT.changes) return failed(planned);

  heading('2. Apply: rolecall applies the plan, except the held changes', 'rolecall apply --plan plan.json');
  const applied = await applyToAccounts(context, [], { ...TEXT, ...APPLY });
  if (applied !== EXIT.done) return failed(applied);

  heading('3. Plan again: only what is held remains', 'rolecall plan acme');
  const again = await planAccounts(context, ['acme'], { ...TEXT, detailedExitcode: true });
  return again === EXIT.held ? EXIT.done : failed(again);
}

function failed(exit: ExitStatus): ExitStatus {
  return exit === EXIT.interrupted ? exit : EXIT.failed;
}

function heading(title: string, command: string): void {
  print(['', `━━ ${title}`, `$ ${command}`]);
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** The service file. The daemon listens on a free port. */
function serviceText({ regions }: Sandbox): string {
  return `regions: { eu: ${regions.eu} }
defaults: { schedule: "* * * * *" }
api: { requestsPerSecond: 200 }
http: { listen: "127.0.0.1:0", tokens: [{ name: you, role: operate, token: { file: ../http-token } }] }
log: warn
`;
}

const NEXT = [
  'Try next:',
  '  rolecall demo --serve      the same, then the pages, with a plan that waits for your approval',
  '  rolecall init --sandbox    the same account, with files of your own',
];

function welcome(link: string, configFile: string): string[] {
  return [
    'Meanwhile somebody deleted “Go” in the service and added “Flash”, so a plan waits for your approval.',
    `Open its page, signed in (once): ${link}`,
    `Later, sign in with the token in ${path.join(configFile, '../../http-token')}.`,
    'Try next, in another terminal:',
    `  rolecall --config ${configFile} plan acme`,
    `  rolecall --config ${configFile} history`,
    'Press Ctrl-C here to stop the daemon and the sandbox, and to remove their files.',
  ];
}
