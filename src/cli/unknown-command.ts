// Refuses unknown commands beside `help` and `--help`, for which the parser itself would exit with success.
import type { Command } from 'commander';
import { nearestWord } from '../core/did-you-mean.ts';
import { visible } from '../report/escape-invisible.ts';
import { EXIT } from './exit-status.ts';

/** Ends with wrong usage for `rolecall UNKNOWN --help` and `rolecall help UNKNOWN`. */
export function refuseUnknownCommand(program: Command, argv: readonly string[]): void {
  const rest = argv.filter((argument) => argument !== '--help' && argument !== '-h');
  if (rest.length === argv.length && !rest.includes('help')) return;
  const { operands } = program.parseOptions(rest);
  const name = operands[0] === 'help' ? operands[1] : operands[0];
  const known = program.commands.flatMap((command) => [command.name(), ...command.aliases()]);
  if (name === undefined || known.includes(name) || name === 'help') return;
  const near = nearestWord(name, known);
  const hint = near === undefined ? '' : `\n(Did you mean ${near}?)`;
  program.error(`error: unknown command '${visible(name)}'${hint}`, {
    code: 'commander.unknownCommand',
    exitCode: EXIT.usage,
  });
}
