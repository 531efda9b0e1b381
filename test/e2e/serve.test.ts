// The daemon as a process: a configuration that is edited while it runs, and a clean stop.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Daemon, EVERY_SECOND, startDaemon } from '../support/daemon.ts';
import { makeWorkspace, QUICK_API, until, type Workspace } from '../support/workspace.ts';
import { costly } from '../support/thorough.ts';

interface Setting {
  readonly sandbox: Sandbox;
  readonly workspace: Workspace;
  /** Writes the file of an account. */
  readonly account: (name: 'acme' | 'beta', yaml: string) => void;
  readonly serve: () => Promise<Daemon>;
  /** The names of an account's skills now. */
  readonly skills: (name: 'acme' | 'beta') => string[];
}

/** Two accounts that start empty but for a skill that somebody has. */
async function setUp(): Promise<Setting> {
  const sandbox = await startSandbox({
    seed: {
      accounts: [
        { name: 'acme', token: 'token-of-acme', skills: ['Perl'], resources: [{ skills: ['Perl'] }] },
        { name: 'beta', token: 'token-of-beta', resources: [{ id: 'someone' }] },
      ],
    },
  });
  const workspace = makeWorkspace('token-of-acme');
  workspace.write(
    'config/rolecall.yaml',
    [
      'accounts: accounts/*.yaml',
      'store: ../data/rolecall.db',
      `api: ${QUICK_API}`,
      `defaults: { mode: apply, schedule: ${EVERY_SECOND} }`,
      'http: { listen: 127.0.0.1:0 }',
      '',
    ].join('\n'),
  );
  return {
    sandbox,
    workspace,
    account: (name, yaml) =>
      workspace.write(
        `config/accounts/${name}.yaml`,
        `baseUrl: ${sandbox.url}\ntoken: { env: ${name.toUpperCase()}_TOKEN }\n${yaml}\n`,
      ),
    serve: () => startDaemon(workspace, { env: { BETA_TOKEN: 'token-of-beta' } }),
    skills: (name) =>
      sandbox
        .state(name)
        .skills.map((skill) => skill.name)
        .toSorted(),
  };
}

costly(
  'a file that is written in pieces is used when it is complete, so that no entry is deleted and created again',
  async () => {
    const { sandbox, account, serve, skills } = await setUp();
    const names = ['Alpha', 'Beta', 'Gamma', 'Delta', 'Eta'];
    const file = (some: readonly string[]) => account('beta', `skills: [${some.join(', ')}]`);
    try {
      file(names);
      account('acme', 'skills: [Perl]');
      const daemon = await serve();
      await until('the account matches its file', () => daemon.runsEnded('beta', 'converged') > 1);
      const before = sandbox.state('beta').skills.map(({ id }) => id);
      for (let written = 0; written < names.length; written += 1) {
        const runs = daemon.runsEnded('beta');
        file(names.slice(0, written));
        await daemon.api('accounts/beta/sync', {});
        await until('a run has ended', () => daemon.runsEnded('beta') > runs);
      }
      file([...names, 'Theta']);
      await until('the complete file is applied', () => skills('beta').includes('Theta'));
      expect(sandbox.state('beta').skills.map(({ id }) => id)).toEqual(expect.arrayContaining(before));
      await daemon.stop();
    } finally {
      await sandbox.close();
    }
  },
);

costly(
  'with an invalid service file no account runs, and pages, API and status say so until it is fixed',
  async () => {
    const { sandbox, workspace, account, serve } = await setUp();
    try {
      account('acme', 'skills: [Perl]');
      account('beta', 'skills: [Lathe]');
      const daemon = await serve();
      await until('both run', () => daemon.runsEnded('acme') > 0 && daemon.runsEnded('beta') > 0);
      const file = join(workspace.folder, 'config/rolecall.yaml');
      const valid = readFileSync(file, 'utf8');
      workspace.write('config/rolecall.yaml', `${valid}daemom: {}\n`);
      await until('every run fails', () => daemon.runsEnded('beta', 'failed') > 0);
      expect((await daemon.api('status')).body).toMatchObject({ configurationValid: false });
      const { body } = await daemon.api('accounts/beta');
      expect(body).toMatchObject({ state: 'service_invalid', valid: true });
      const { text } = await daemon.get('/');
      expect(text).toContain('No account runs until they are fixed.');
      expect(text).toContain('invalid service file');
      expect(text).not.toMatch(/\d invalid file|>invalid file<\/span|last valid/);
      const status = await workspace.run(['status']);
      expect(status.status).toBe(4);
      expect(status.stderr).toContain('unknown key "daemom"');

      workspace.write('config/rolecall.yaml', valid);
      await until('the accounts run again', async () => {
        const { body: fixed } = await daemon.api('accounts/beta');
        return fixed['state'] === 'converged';
      });
      await daemon.stop();
    } finally {
      await sandbox.close();
    }
  },
);

costly(
  'a daemon that stops is not ready at once and answers until its runs have ended and probes have noticed',
  async () => {
    const { sandbox, account, serve } = await setUp();
    try {
      account('beta', 'skills: [Go]');
      const daemon = await serve();
      await until('it is ready', async () => (await daemon.get('/readyz')).status === 200);
      sandbox.setSettings({ latencyMs: 500 });
      const before = daemon.runsEnded('beta');
      await until('a run works', () => sandbox.requests().some(({ status }) => status === null));
      daemon.process.kill('SIGTERM');
      await until('it stops', () => daemon.events('stopping').length > 0);
      expect(await daemon.get('/readyz')).toEqual({ status: 503, text: 'the daemon is stopping\n' });
      const page = await fetch(`${daemon.url}/`, { headers: { accept: 'text/html' } });
      expect([page.status, page.headers.get('connection')]).toEqual([200, 'close']);
      await until('the run has ended', () => daemon.runsEnded('beta') > before);
      expect((await daemon.get('/api/v1/accounts')).status).toBe(200);
      expect((await daemon.ended).status).toBe(0);
    } finally {
      await sandbox.close();
    }
  },
);
