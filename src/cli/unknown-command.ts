// Refuses unknown commands beside `help` and `--help`, for which the parser itself would exit with success.
import type { Command } from 'commander';
import { visible } from '../report/escape-invisible.ts';
import { EXIT } from './exit-status.ts';

/** Ends with wrong usage for `rolecall UNKNOWN --help` and `rolecall help UNKNOWN`. */
export function refuseUnknownCommand(program: Command, argv: readonly string[]): void {
  const rest = argv.filter((argument) => argument !== '--help' && argument !== '-h');
  if (rest.length === argv.length && !rest.includes('help')) return;
  const { operands } = program.parseOptions(rest);
  const name = operands[0] === 'help' ? operands[1] : operands[0];
  const isKnown = program.commands.some(
    (command) => command.name() === name || command.aliases().includes(name ?? ''),
  );
  if (name === undefined || isKnown || name === 'help') return;
  program.error(`error: unknown command '${visible(name)}'`, {
    code: 'commander.unknownCommand',
    exitCode: EXIT.usage,
  });
}
