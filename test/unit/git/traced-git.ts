// The real git behind a script that records the arguments and the variables of each call.
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { vi } from 'vitest';
import { workspace } from '../config/workspace.ts';

export interface TracedGit {
  /** The arguments of every call since the last reading, one text for each call. */
  calls(): string[];
  /** The names of all variables that any of these calls received. */
  variables(): Set<string>;
}

/** Puts the script before git in the PATH, until the test's environment is restored. */
export function traceGit(): TracedGit {
  const folder = workspace({});
  const calls = path.join(folder, 'calls');
  const variables = path.join(folder, 'variables');
  const search = process.env['PATH'] ?? '';
  const script = [
    '#!/bin/sh',
    `{ printf '%s\\037' "$@"; echo; } >> '${calls}'`,
    `env -0 | tr '\\n\\0' '\\036\\n' | sed 's/=.*//' >> '${variables}'`,
    `PATH='${search}' exec git "$@"`,
  ];
  writeFileSync(path.join(folder, 'git'), `${script.join('\n')}\n`);
  chmodSync(path.join(folder, 'git'), 0o755);
  vi.stubEnv('PATH', `${folder}:${search}`);
  return {
    calls: () => lines(calls),
    variables: () => new Set(lines(variables)),
  };
}

function lines(file: string): string[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  return text.split('\n').filter((line) => line !== '');
}
