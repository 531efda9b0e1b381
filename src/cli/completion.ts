// Shell completion, which @bomb.sh/tab derives from the commands of the program.
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'];

/** Adds `completion SHELL`, and the hidden command that the completion scripts call. */
export function addCompletion(program: Command): void {
  tab(program, { completionCommandName: 'completion' });
  const command = program.commands.find((each) => each.name() === 'completion');
  // Changed in place, since the library keeps this list. PowerShell is removed because it is not tested.
  command?.registeredArguments[0]?.argChoices?.splice(0, Infinity, ...SHELLS);
}
