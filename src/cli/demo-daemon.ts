// `demo --serve`: gives the store of the demo some history and accounts in several states, then runs the daemon on it.
import { ACCEPT_NOTHING } from '../app/request.ts';
import { applyToAccounts } from './apply-accounts.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { openJournal } from './compose.ts';
import { loadConfiguration } from './load-accounts.ts';
import { currentUser } from './open-journal.ts';
import { planAccounts } from './plan-accounts.ts';
import { BRANCH_NAMES, type Branch, createEditor, type DemoExtract, demoNames } from '../sandbox/demo.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { DemoConfiguration } from './demo-configuration.ts';
import { serve } from '../wire/daemon.ts';

/** How often acme is changed by hand and applied before the daemon starts. */
const EARLIER_RUNS = 4;
/** How often an account is changed by hand while the daemon runs. */
const EDIT_MS = 30_000;

interface Stage {
  readonly sandbox: Sandbox;
  readonly configuration: DemoConfiguration;
  readonly extract: DemoExtract;
}

/** Runs the daemon until SIGTERM or SIGINT. */
export async function serveDemo(version: string, stage: Stage): Promise<ExitStatus> {
  const { sandbox, configuration } = stage;
  const edit = createEditor(sandbox);
  await writeBranches(stage);
  const made = await makeHistory(version, stage, edit);
  if (made !== EXIT.done) return made;
  // acme is corrected at its next tick, studio waits for approval, support only reports, finance is paused.
  for (const account of ['studio', 'support', 'finance']) edit(account);
  await pauseFinance(configuration);
  const editing = setInterval(() => edit('acme'), EDIT_MS);
  try {
    const onListening = (url: string): void => printWelcome(url, configuration);
    const status = await serve(version, configuration.file, { onListening });
    return status === 0 ? EXIT.done : EXIT.failed;
  } finally {
    clearInterval(editing);
  }
}

const MODES = { studio: 'approve', support: 'plan', finance: 'apply' } as const satisfies Record<
  Branch,
  string
>;

async function writeBranches({ configuration, extract }: Stage): Promise<void> {
  for (const name of BRANCH_NAMES) {
    await configuration.writeAccount({ name, names: demoNames(extract, name), mode: MODES[name] });
  }
}

/** Runs commands as a user does, until one has another result than 0; their reports are in files beside the configuration. */
async function makeHistory(
  version: string,
  { configuration }: Stage,
  edit: (account: string) => void,
): Promise<ExitStatus> {
  const context = { version, configFile: configuration.file };
  const report = (name: string) => ({ format: 'text', output: configuration.path(name) }) as const;
  let exit = await planAccounts(context, [], report('plan.txt'));
  for (let run = 1; run <= EARLIER_RUNS && exit === EXIT.done; run += 1) {
    edit('acme');
    const options = { yes: true, allowHeld: true, lockTimeoutMs: 10_000, accept: ACCEPT_NOTHING };
    exit = await applyToAccounts(context, ['acme'], { ...options, ...report(`apply-${run}.txt`) });
  }
  return exit;
}

async function pauseFinance({ file }: DemoConfiguration): Promise<void> {
  const { service } = await loadConfiguration(file);
  if (service === undefined) throw new Error('the configuration of the demo is invalid');
  const journal = await openJournal(service, {});
  try {
    const reason = 'the annual report is being prepared';
    await journal.operator.pause('finance', reason, currentUser(), Date.now());
  } finally {
    await journal.close();
  }
}

function printWelcome(url: string, { file }: DemoConfiguration): void {
  const program = `node ${process.argv[1] ?? 'dist/main.js'} --config ${file}`;
  const lines = [
    `The daemon runs. Its pages are at ${url}`,
    '  acme     is applied every 20 seconds; somebody changes it by hand every 30 seconds',
    '  studio   has a plan that waits for approval; support only reports; finance is paused',
    '',
    'Try next, in another terminal:',
    `  ${program} plan support`,
    `  ${program} approve studio`,
    `  ${program} history`,
    'Press Ctrl-C here to stop the daemon and the sandbox.',
    'The names are from the O*NET database (USDOL/ETA, CC BY 4.0); the people are made up.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
