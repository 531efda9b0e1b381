// Shell completion, which @bomb.sh/tab derives from the commands of the program. Accounts come from the configuration.
import tab from '@bomb.sh/tab/commander';
import { KINDS } from '../core/catalog.ts';
import { RUN_STATUSES } from '../core/journal.ts';
import type { CommandLine } from './command-line.ts';
import { loadConfiguration } from './load-accounts.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

interface Value {
  readonly value: string;
  readonly description: string;
}

/** The arguments and options with known values, by their names. Those of `account` depend on the configuration. */
const KNOWN: Readonly<Record<string, readonly Value[]>> = {
  run: plain(['last']),
  from: plain(['last', 'now']),
  to: plain(['last', 'now']),
  status: plain(RUN_STATUSES),
  kind: plain(KINDS),
};

function plain(values: readonly string[]): Value[] {
  return values.map((value) => ({ value, description: '' }));
}

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

/** Adds `completion SHELL`, and the hidden command that the completion scripts call. */
export function addCompletion({ program }: CommandLine): void {
  const root = tab(program, { completionCommandName: 'completion' });
  const command = program.commands.find((each) => each.name() === 'completion');
  // Changed in place, since the library keeps this list. PowerShell is removed because it is not tested.
  command?.registeredArguments[0]?.argChoices?.splice(0, Infinity, ...SHELLS);

  const accounts: Value[] = [];
  const offer = (values: readonly Value[]) => (complete: (value: string, description: string) => void) => {
    for (const { value, description } of values) complete(value, description);
  };
  for (const each of root.commands.values()) {
    const named = [
      ...[...each.arguments.values()].map((argument) => [argument.name, argument] as const),
      ...[...each.options.values()].map((option) => [option.value, option] as const),
    ];
    for (const [name, completed] of named) {
      const values = name === 'account' ? accounts : KNOWN[name];
      if (values !== undefined) completed.handler = offer(values);
    }
  }
  program.hook('preAction', async (_program, action) => {
    if (action.name() === 'completion' && action.args[0] === 'bash') process.stdout.write(BASH_FALLBACK);
    if (action.name() !== 'complete') return;
    const words = separated(action.args);
    action.processedArgs = [words];
    const hasCommand = program.commands.some((each) => words.includes(each.name()));
    if (hasCommand) accounts.push(...(await accountsOf(configFileIn(words))));
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
async function accountsOf(configFile: string): Promise<Value[]> {
  const loaded = await loadConfiguration(configFile).catch(() => null);
  return (loaded?.accounts ?? []).map(({ name, settings }) => ({
    value: name,
    description: settings === undefined ? 'its file is not valid' : `mode ${settings.mode}`,
  }));
}
