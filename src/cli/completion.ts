// Shell completion, which @bomb.sh/tab derives from the commands of the program. Accounts come from the configuration.
import tab from '@bomb.sh/tab/commander';
import { type CommandLine, DEFAULT_CONFIG } from './command-line.ts';
import type { ConfiguredAccount } from '../core/settings.ts';
import { loadConfiguration } from './load-accounts.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

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

  let accounts: readonly ConfiguredAccount[] = [];
  for (const { arguments: all } of root.commands.values()) {
    const argument = all.get('account');
    if (argument === undefined) continue;
    argument.handler = (complete) => {
      for (const { name, settings } of accounts)
        complete(name, settings === undefined ? 'its file is not valid' : `mode ${settings.mode}`);
    };
  }
  program.hook('preAction', async (_program, action) => {
    if (action.name() === 'completion' && action.args[0] === 'bash') process.stdout.write(BASH_FALLBACK);
    if (action.name() !== 'complete') return;
    const words = action.args;
    const given = words.includes('--config') ? words[words.indexOf('--config') + 1] : undefined;
    const hasCommand = program.commands.some((each) => words.includes(each.name()));
    const configFile = given ?? process.env['ROLECALL_CONFIG'] ?? DEFAULT_CONFIG;
    // Never fails: a message would be shown in the middle of the line that the user types.
    if (hasCommand) accounts = (await loadConfiguration(configFile).catch(() => null))?.accounts ?? [];
  });
}
