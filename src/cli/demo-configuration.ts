// Writes the configuration of the demo into a new temporary folder, with the tokens in files beside it.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoNames, Drift } from '../sandbox/demo.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

export interface DemoAccount {
  readonly name: string;
  readonly names: DemoNames;
  readonly mode: 'plan' | 'approve' | 'apply';
  /** The rename that the file declares. */
  readonly renamed?: Drift['renamed'];
}

export interface DemoConfiguration {
  /** The service file. */
  readonly file: string;
  /** A path in the folder of the demo. */
  readonly path: (name: string) => string;
  writeAccount(account: DemoAccount): Promise<void>;
}

/** Creates the folder and the service file. The daemon listens on a free port. */
export async function createConfiguration(sandbox: Sandbox): Promise<DemoConfiguration> {
  const folder = await mkdtemp(join(tmpdir(), 'rolecall-demo-'));
  const inFolder = (name: string): string => join(folder, name);
  for (const name of ['config/accounts', 'tokens']) await mkdir(inFolder(name), { recursive: true });
  const file = inFolder('config/rolecall.yaml');
  const lines = [
    'accounts: accounts/*.yaml',
    'store: ../data/rolecall.db',
    'regions:',
    ...Object.entries(sandbox.regions).map(([region, url]) => `  ${region}: ${url}`),
    'defaults: { schedule: "*/20 * * * * *" }',
    'api: { requestsPerSecond: 200 }',
    'daemon: { runOnStart: false }',
    'http: { listen: "127.0.0.1:0" }',
    'log: { level: warn }',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  return {
    file,
    path: inFolder,
    async writeAccount(account) {
      const remote = sandbox.accounts.find(({ name }) => name === account.name);
      if (remote === undefined) throw new Error(`the sandbox has no account ${account.name}`);
      const token = inFolder(`tokens/${account.name}`);
      await writeFile(token, `${remote.token}\n`, { mode: 0o600 });
      const text = accountText(account, remote.region);
      await writeFile(inFolder(`config/accounts/${account.name}.yaml`), text);
    },
  };
}

function accountText({ name, names, mode, renamed }: DemoAccount, region: string): string {
  const item = (text: string): string => `  - ${JSON.stringify(text)}`;
  const lines = [
    `region: ${region}`,
    `token: { file: ../../tokens/${name} }`,
    `mode: ${mode}`,
    'skills:',
    ...(renamed === undefined
      ? []
      : [`  - name: ${JSON.stringify(renamed.name)}`, `    formerly: [${JSON.stringify(renamed.formerly)}]`]),
    ...names.skills.filter((skill) => skill !== renamed?.formerly).map(item),
    'roles:',
    ...names.roles.map(item),
  ];
  return `${lines.join('\n')}\n`;
}
