// No command prints, stores or passes on a token or a salary.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CANARY, HTTP_CANARY, leaksOf, PROXY_CANARY } from '../support/canary.ts';
import { type CanaryWorkspace, canaryWorkspace } from '../support/canary-workspace.ts';
import { git } from '../support/git.ts';
import { type Parrot, startParrot } from '../support/parrot.ts';
import { someOf } from '../support/thorough.ts';
import { type Result, until } from '../support/workspace.ts';

const FORMATS = ['text', 'json', 'markdown', 'html'];

/** How each command is run. The test fails if a command of `--help` is missing here. */
const COMMANDS: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  async init({ w, parrot }) {
    const given = [
      'init',
      '--account',
      'vault',
      '--token-env',
      'CANARY_TOKEN',
      '--config',
      'first/rolecall.yaml',
    ];
    expect(
      await w.run([...given, '--base-url', `${parrot.url}/vault`], { withoutConfig: true }),
    ).toMatchObject({
      status: 0,
    });
    await all(w, [
      ['init', '--account', 'vault', '--base-url', parrot.url, '--token-env', CANARY],
      ['init', '--account', 'vault', '--base-url', parrot.url, '--token-file', CANARY],
    ]);
  },
  validate: ({ w }) =>
    all(w, [
      ...everyFormat(['validate', '--require-secrets', '--output', 'validate.out']),
      ...everyFormat(['validate', '--online']),
    ]),
  async plan({ w, parrot }) {
    await firstAsProcess(w, [
      ...everyFormat(['plan', '--detailed-exitcode']),
      ['plan', '--save', 'saved.json'],
    ]);
    // The server in place of the daemon repeats the daemon's token.
    const { stderr } = await w.run(['plan', '--server', `${parrot.url}/daemon/api/public/v1/skill?`], {});
    expect(stderr).toMatch(/did not return a list of plans|answered/);
  },
  async apply({ w }) {
    await w.run(['apply', '--plan', 'saved.json', '--output', 'apply.md', '--format', 'markdown']);
    await firstAsProcess(w, [
      ['apply', '--yes'],
      ['apply', '--yes', '--format', 'json'],
    ]);
  },
  approve: ({ w }) => w.run(['approve', 'vault', '--yes']),
  sync: ({ w }) => w.run(['sync', 'vault']),
  pause: ({ w }) => w.run(['pause', 'vault']),
  resume: ({ w }) => w.run(['resume', 'vault']),
  dump: ({ w }) =>
    all(w, [
      ['dump', 'vault'],
      ['dump', 'vault', '--output', 'dump.yaml'],
    ]),
  history: ({ w }) => all(w, [...everyFormat(['history']), ...everyFormat(['history', '--lists'])]),
  async show({ w }) {
    const [run] = w.rows<{ id: string }>('select id from runs where created > 0 or failed > 0');
    await all(w, everyFormat(['show', run?.id ?? 'none']));
  },
  status: ({ w }) => all(w, everyFormat(['status'])),
  who: ({ w }) =>
    all(w, [...everyFormat(['who', 'Go']), ...everyFormat(['who', '--live', '--output', 'who.out'])]),
  async restore({ w }) {
    const [run] = w.rows<{ id: string }>('select id from runs where deleted > 0 or failed > 0');
    await all(w, [...everyFormat(['restore', run?.id ?? 'last']), ['restore', 'last', '--format', 'csv']]);
  },
  diff: ({ w }) => all(w, [...everyFormat(['diff', 'last', 'now']), ['diff', '1', 'last']]),
  backup: ({ w }) => w.run(['backup', 'copy.db']),
  'copy-store': ({ w }) =>
    all(w, [
      ['copy-store', 'data/rolecall.db', `postgres://me:${CANARY}@127.0.0.1:1/a`],
      ['copy-store', 'data/rolecall.db', `mysql://me:${CANARY}@127.0.0.1:1/a?`],
    ]),
  sandbox: ({ w }) => stopWhenPrinted(w, ['sandbox', '--port', '0', '--data', 'sandbox.db'], /listens at/),
  serve: ({ w }) => stopWhenPrinted(w, ['serve'], /"run_ended"/),
  demo: ({ w }) => w.run(['demo']),
  completion: ({ w }) =>
    all(w, [
      ['completion', 'bash'],
      ['complete', '--', 'plan', ''],
    ]),
  help: ({ w }) => w.run(['help', 'apply']),
};

interface Stage {
  readonly w: CanaryWorkspace;
  readonly parrot: Parrot;
}

function everyFormat(command: readonly string[]): string[][] {
  return FORMATS.map((format) => [...command, '--format', format]);
}

/** Runs one command after the other, because the second apply depends on the result of the first. */
async function all(w: CanaryWorkspace, commands: readonly (readonly string[])[]): Promise<void> {
  for (const command of commands) await w.run(command);
}

/** Like `all`, but the first command is a process, whose command line git records. */
async function firstAsProcess(w: CanaryWorkspace, commands: readonly (readonly string[])[]): Promise<void> {
  for (const [index, command] of commands.entries()) await w.run(command, { asProcess: index === 0 });
}

async function stopWhenPrinted(
  w: CanaryWorkspace,
  command: readonly string[],
  pattern: RegExp,
): Promise<Result> {
  const running = w.start(command);
  await until('it prints the pattern', () => pattern.test(running.output().stdout + running.output().stderr));
  running.process.kill('SIGTERM');
  return await running.ended;
}

/** Puts a wrapper before git that records its arguments, its environment and the command line of its parent process. */
function spyOnGit(w: CanaryWorkspace): { readonly path: string; recorded(): string } {
  const folder = join(w.folder, 'bin');
  const recorded = join(w.folder, 'bin/recorded');
  const real = process.env['PATH'] ?? '';
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'git'),
    [
      '#!/bin/sh',
      `{ printf '%s\\n' "$@"; env; tr '\\0' '\\n' < /proc/$PPID/cmdline; } >> '${recorded}'`,
      `PATH='${real}' exec git "$@"`,
      '',
    ].join('\n'),
  );
  chmodSync(join(folder, 'git'), 0o755);
  return { path: `${folder}:${real}`, recorded: () => readFileSync(recorded, 'latin1') };
}

async function commandsOf(w: CanaryWorkspace): Promise<string[]> {
  const { stdout } = await w.run(['--help']);
  const [, list = ''] = /\nStart:\n([^]*?)\n\nExit status/.exec(stdout) ?? [];
  return ['help', ...[...list.matchAll(/^ {2}([\w-]+)/gm)].map(([, name = '']) => name)];
}

test('no command prints, stores or passes on a token or a salary', async () => {
  const parrot = await startParrot({
    refused: {
      create: (text) => ({ status: 422, body: { detail: [{ loc: ['x'], msg: text, type: text }] } }),
    },
  });
  const w = canaryWorkspace();
  w.serve('http: { listen: 127.0.0.1:0, token: { env: ROLECALL_HTTP_TOKEN } }\nlog: trace');
  const lines = 'mode: approve\nschedule: "0 0 1 1 *"\nskills: [Go, New]\nroles: [Dev]';
  w.account('vault', `${parrot.url}/vault`, lines);
  w.account('refused', `${parrot.url}/refused`, lines);
  git(w.folder, ['init', '-q']);
  const spy = spyOnGit(w);
  const observed: CanaryWorkspace = {
    ...w,
    start: (args, options) => w.start(args, { ...options, env: { PATH: spy.path, ...options?.env } }),
    run: (args, options) => w.run(args, { ...options, env: { PATH: spy.path, ...options?.env } }),
  };

  expect((await commandsOf(w)).toSorted()).toEqual(Object.keys(COMMANDS).toSorted());
  for (const run of Object.values(COMMANDS)) await run({ w: observed, parrot });

  expect(w.leaks()).toEqual([]);
  expect(leaksOf(spy.recorded())).toEqual([]);
  expect(w.leaksOnDisk()).toEqual([]);
  // Both tokens were used, the create and the delete were sent, and git was called.
  expect(new Set(parrot.authorizations())).toEqual(new Set([`Bearer ${CANARY}`, `Bearer ${HTTP_CANARY}`]));
  expect(parrot.requests()).toContain('vault POST skill');
  expect(parrot.requests()).toContain('vault DELETE skill/s3');
  expect(spy.recorded()).toContain('rev-list\n--max-count');
  expect(w.rows('select * from runs').length).toBeGreaterThan(5);
});

/** Statements that make the program fail after its first request, like a bug or a failing library. */
const BREAKS: Readonly<Record<string, string>> = {
  'an error that nobody catches':
    "setImmediate(() => { throw new Error('forced', { cause: message.response }); })",
  'a rejection that nobody handles':
    "Promise.reject(new AggregateError([new TypeError('forced')], 'forced'))",
  'a warning of Node': "process.emitWarning('forced', { code: 'FORCED', detail: 'forced' })",
  'an error within a run': "String.prototype.normalize = () => { throw new Error('forced') }",
};

test.each(someOf(Object.entries(BREAKS), 2))('%s prints no secret', async (_, statement) => {
  const parrot = await startParrot({});
  const w = canaryWorkspace();
  w.serve();
  w.account('vault', `${parrot.url}/vault`, 'skills: [Go]');
  w.write(
    'breaks.mjs',
    `import { channel } from 'node:diagnostics_channel';\nchannel('undici:request:headers').subscribe((message) => { ${statement} });\n`,
  );
  const { stderr, stdout } = await w.run(['apply', '--yes'], {
    env: {
      NODE_OPTIONS: `--import=${join(w.folder, 'breaks.mjs')} --trace-warnings`,
      HTTPS_PROXY: `http://me:${PROXY_CANARY}@127.0.0.1:1`,
    },
  });
  expect(stdout + stderr).toContain('forced');
  expect(parrot.authorizations()).toContain(`Bearer ${CANARY}`);
  expect(w.leaks()).toEqual([]);
  expect(w.leaksOnDisk()).toEqual([]);
});
