// Shell completion, by @bomb.sh/tab from the program itself.
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

/** Adds `completion SHELL`, and the hidden command by which a sourced script asks for words. */
export function addCompletion(program: Command): void {
  tab(program, { completionCommandName: 'completion' });
}
