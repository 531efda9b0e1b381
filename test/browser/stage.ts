// A sandbox, accounts on it, and a daemon for them: what the pages are opened on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fault, type Sandbox, type SandboxSeed, startSandbox } from '../../src/sandbox/sandbox.ts';
import {
  type DaemonProcess,
  outputOf,
  startDaemonProcess,
  waitUntil,
  writeBelow,
  writeServiceFile,
} from './daemon-process.ts';

type SeedAccount = SandboxSeed['accounts'][number];

/** An account of the stage: what the service contains, and the lines of its file below the address and the token. */
export interface StagedAccount extends Pick<SeedAccount, 'skills' | 'roles' | 'resources'> {
  readonly name: string;
  readonly file: string;
}

/** An account as the API lists it. */
export interface AccountState {
  readonly name: string;
  readonly activity: string;
  readonly pending: { readonly digest: string } | null;
  readonly lastRun: { readonly id: string; readonly status: string } | null;
}

export interface Stage extends Pick<DaemonProcess, 'url' | 'api'> {
  readonly sandbox: Sandbox;
  accounts(): Promise<readonly AccountState[]>;
  /** Runs accounts once more and waits until they are idle. */
  sync(...accounts: readonly string[]): Promise<void>;
  /** Replaces the lines of an account's file below its address and token. */
  configure(account: string, file: string): void;
  /** Removes an account's file, and waits until the daemon has noticed. */
  remove(account: string): Promise<void>;
  /** Runs a command on the same configuration and store, and resolves with what it printed. */
  command(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  close(): Promise<void>;
}

/** Starts everything and waits until each account has run once. */
export async function startStage(
  accounts: readonly StagedAccount[],
  faults: readonly Fault[] = [],
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-stage-'));
  const sandbox = await startSandbox({ seed: { accounts: accounts.map(seedOf) }, faults });
  const configure: Stage['configure'] = (account, file) => {
    const head = `baseUrl: ${sandbox.url}\ntoken: { env: ${variableOf(account)} }\n`;
    writeBelow(folder, `config/accounts/${account}.yaml`, `${head}${file}\n`);
  };
  writeServiceFile(folder);
  for (const { name, file } of accounts) configure(name, file);
  const env = Object.fromEntries(accounts.map(({ name }) => [variableOf(name), tokenOf(name)]));
  const daemon = await startDaemonProcess(folder, env);

  const states: Stage['accounts'] = async () =>
    (await daemon.api<{ readonly accounts: readonly AccountState[] }>('accounts')).accounts;
  /** Waits until the accounts are idle after a run other than the earlier one. */
  const ranAfter = async (earlier: ReadonlyMap<string, string | undefined>): Promise<void> =>
    await waitUntil(`${[...earlier.keys()].join(', ')} ran`, async () =>
      (await states()).every(
        ({ name, activity, lastRun }) =>
          !earlier.has(name) || (activity === 'idle' && lastRun !== null && lastRun.id !== earlier.get(name)),
      ),
    );
  await ranAfter(new Map(accounts.map(({ name }) => [name, undefined])));

  return {
    url: daemon.url,
    api: daemon.api,
    sandbox,
    accounts: states,
    configure,
    async sync(...names) {
      const runs = new Map((await states()).map(({ name, lastRun }) => [name, lastRun?.id]));
      for (const name of names) await daemon.api(`accounts/${name}/sync`, {});
      await ranAfter(new Map(names.map((name) => [name, runs.get(name)])));
    },
    async remove(account) {
      rmSync(join(folder, `config/accounts/${account}.yaml`));
      await waitUntil('its file is gone', async () => (await states()).every(({ name }) => name !== account));
    },
    command: async (args, more) => await outputOf(folder, args, { ...env, ...more }),
    async close() {
      await daemon.stop();
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const tokenOf = (account: string): string => `token-of-${account}`;
const variableOf = (account: string): string =>
  `TOKEN_${account.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;

function seedOf({ name, skills = [], roles = [], resources }: StagedAccount): SeedAccount {
  // A service that lists no people at all holds every delete.
  return { name, skills, roles, resources: resources ?? [{ id: 'somebody' }], token: tokenOf(name) };
}
