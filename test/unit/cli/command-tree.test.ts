// All commands together: each has the same names for the same options, and a help that a new user can work with.
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';

const program = await createProgram('0.0.0', [], () => async () => {});
const commands = program.commands.map((command) => [command.name(), command] as const);

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

/** The short flag of each option that has one, in all commands. */
const SHORT: Readonly<Record<string, string>> = {
  '--help': '-h',
  '--version': '-V',
  '--yes': '-y',
  '--output': '-o',
};

test('options have the same short flag, value and meaning in all commands', () => {
  const seen = new Map<string, string>();
  for (const [name, command] of [['', program] as const, ...commands]) {
    for (const { long, short, flags } of command.options) {
      expect([name, long, short]).toEqual([name, long, SHORT[long ?? '']]);
      const value = / (<.*>|\[.*\])$/.exec(flags)?.[1] ?? '';
      expect([name, long, value]).toEqual([name, long, seen.get(long ?? '') ?? value]);
      seen.set(long ?? '', value);
    }
  }
  expect([...seen.keys()]).toEqual(expect.arrayContaining(['--output', '--yes']));
});

test('a file that a command writes is named by --output or --save', () => {
  for (const [name, command] of commands) {
    const options = command.options.map(({ long }) => long);
    for (const other of ['--out', '--file', '--report', '--save-plan'])
      expect([name, options]).not.toEqual([name, expect.arrayContaining([other])]);
  }
});

test.each(commands)(
  'the help of %s has examples second, the global options last, and choices',
  (name, command) => {
    const help = helpOf(command);
    const parts = help.match(/^(?:Usage|[A-Z][\w ]*(?=:$))/gm) ?? [];
    expect([parts[0], parts[1], parts.at(-1)]).toEqual(['Usage', 'Examples', 'Global Options']);
    const examples = [...help.matchAll(/^ {2}rolecall (.*)$/gm)].map(([, example = '']) =>
      example.split(' '),
    );
    const known = [...program.options, ...command.options].map(({ long }) => long);
    for (const [own, ...words] of examples) {
      expect(own).toBe(name);
      expect(known).toEqual(expect.arrayContaining(words.filter((word) => word.startsWith('--'))));
    }
    for (const part of ['--config <file>', 'ROLECALL_CONFIG']) expect(help).toContain(part);
    for (const { argChoices = [], hidden } of command.options)
      for (const choice of hidden ? [] : argChoices) expect(help).toContain(`"${choice}"`);
  },
);

test('the list of commands shows each command in a group and fits on a screen', () => {
  const help = helpOf(program);
  for (const [name] of commands) expect(help).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
  expect(help).not.toContain('Commands:');
  expect(help.split('\n').length).toBeLessThanOrEqual(56);
});
