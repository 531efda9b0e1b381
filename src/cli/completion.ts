// Shell completion, by @bomb.sh/tab from the program itself.
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'];

/** Adds `completion SHELL`, and the hidden command by which a sourced script asks for words. */
export function addCompletion(program: Command): void {
  tab(program, { completionCommandName: 'completion' });
  const command = program.commands.find((each) => each.name() === 'completion');
  // In place, since the library has handed out this list already. Its script for PowerShell is not tested here.
  command?.registeredArguments[0]?.argChoices?.splice(0, Infinity, ...SHELLS);
}
