// Shell completion, which @bomb.sh/tab derives from the commands of the program. Accounts come from the configuration,
// run ids from the store.
import tab from '@bomb.sh/tab/commander';
import { KINDS } from '../core/catalog.ts';
import { type RunRecord, RUN_STATUSES } from '../core/journal.ts';
import type { ServiceSettings } from '../core/settings.ts';
import type { CommandLine } from './command-line.ts';
import { openJournal } from './compose.ts';
import { loadConfiguration } from './load-accounts.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

/** More would not fit on a screen, and a beginning of an id narrows them. */
const MAX_RUNS = 50;

interface Value {
  readonly value: string;
  readonly description: string;
}

type Source = 'accounts' | 'runs' | 'statuses' | 'kinds';

/** What the arguments of commands are, by their names. */
const ARGUMENTS: Readonly<Record<string, readonly Source[]>> = {
  account: ['accounts'],
  run: ['runs'],
  from: ['runs'],
  to: ['runs'],
};

const OPTIONS: Readonly<Record<string, readonly Source[]>> = {
  status: ['statuses'],
  kind: ['kinds'],
  account: ['accounts'],
};

/** The script of the library calls a function of the package bash-completion, which containers often lack. */
const BASH_FALLBACK = `if ! declare -F _get_comp_words_by_ref > /dev/null; then
    _get_comp_words_by_ref() {
        cur=\${COMP_WORDS[COMP_CWORD]}
        prev=\${COMP_WORDS[COMP_CWORD - 1]}
        words=("\${COMP_WORDS[@]}")
        cword=$COMP_CWORD
    }
fi
`;

/** Values without a description, which are known without reading anything. */
function plain(values: readonly string[]): Value[] {
  return values.map((value) => ({ value, description: '' }));
}

/** Adds `completion SHELL`, and the hidden command that the completion scripts call. */
export function addCompletion({ program }: CommandLine): void {
  const root = tab(program, { completionCommandName: 'completion' });
  const command = program.commands.find((each) => each.name() === 'completion');
  // Changed in place, since the library keeps this list. PowerShell is removed because it is not tested.
  command?.registeredArguments[0]?.argChoices?.splice(0, Infinity, ...SHELLS);

  const values: Record<Source, Value[]> = {
    accounts: [],
    runs: [],
    statuses: plain(RUN_STATUSES),
    kinds: plain(KINDS),
  };
  const offer = (sources: readonly Source[]) => (complete: (value: string, description: string) => void) => {
    for (const source of sources)
      for (const { value, description } of values[source]) complete(value, description);
  };
  for (const each of root.commands.values()) {
    for (const argument of each.arguments.values()) {
      const sources = ARGUMENTS[argument.name];
      if (sources !== undefined) argument.handler = offer(sources);
    }
    for (const option of each.options.values()) {
      const sources = OPTIONS[option.value];
      if (sources !== undefined) option.handler = offer(sources);
    }
  }
  program.hook('preAction', async (_program, action) => {
    if (action.name() === 'completion' && action.args[0] === 'bash') process.stdout.write(BASH_FALLBACK);
    if (action.name() !== 'complete') return;
    const words = separated(action.args);
    action.processedArgs = [words];
    const name = program.commands.find((each) => words.includes(each.name()))?.name() ?? '';
    const known = root.commands.get(name);
    if (known === undefined) return;
    const names = [...known.arguments.keys(), ...known.options.keys()];
    const needs = (source: Source): boolean =>
      names.some((each) => (ARGUMENTS[each] ?? OPTIONS[each])?.includes(source) === true);
    if (needs('accounts') || needs('runs')) {
      const loaded = await load(configFileIn(words), needs('runs'));
      values.accounts.push(...loaded.accounts);
      values.runs.push(...loaded.runs);
    }
  });
}

/** `--config=FILE` as two words: the library would take the next word as its value, and not find the command. */
function separated(words: readonly string[]): string[] {
  return words.flatMap((word) =>
    word.startsWith('--config=') ? ['--config', word.slice('--config='.length)] : [word],
  );
}

/** The service file of the command line that is completed. */
function configFileIn(words: readonly string[]): string {
  const given = words.includes('--config') ? words[words.indexOf('--config') + 1] : undefined;
  return given ?? process.env['ROLECALL_CONFIG'] ?? 'config/rolecall.yaml';
}

/** Never fails: a message would be shown in the middle of the line that the user types. */
async function load(
  configFile: string,
  withRuns: boolean,
): Promise<{ readonly accounts: readonly Value[]; readonly runs: readonly Value[] }> {
  try {
    const { accounts, service } = await loadConfiguration(configFile);
    const named = accounts.map(({ name, settings }) => ({
      value: name,
      description: settings === undefined ? 'its file is not valid' : `mode ${settings.mode}`,
    }));
    if (!withRuns || service === undefined) return { accounts: named, runs: [] };
    const runs = await newestRuns(service).catch(() => []);
    return {
      accounts: named,
      runs: [{ value: 'last', description: 'the newest run' }, ...runs.map(described)],
    };
  } catch {
    return { accounts: [], runs: [] };
  }
}

async function newestRuns(service: ServiceSettings): Promise<readonly RunRecord[]> {
  const journal = await openJournal(service);
  try {
    return await journal.reader.runs({ limit: MAX_RUNS });
  } finally {
    await journal.close();
  }
}

function described({ id, account, status, startedAt }: RunRecord): Value {
  return { value: id, description: `${account} ${status} ${startedAt}` };
}
