// Real files in a folder of their own, for the tests of configuration.
import type { Configuration } from '../../../src/core/settings.ts';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { ConfigIssue } from '../../../src/core/errors.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';

export const SERVICE = 'regions: { eu: "https://eu.example.com" }\n';
export const ACCOUNT = 'region: eu\ntoken: { env: A_TOKEN }\n';

/** The parts of a text that white space separates, or another separator. */
export function words(text: string, separator: string | RegExp = /\s+/u): string[] {
  return text.split(separator).filter((word) => word !== '');
}

/** A folder with these files, removed after the test. */
export function workspace(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'rolecall-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}

export interface Loaded extends Configuration {
  readonly folder: string;
  /** `file:line:column severity message`, files relative to the folder. */
  readonly lines: readonly string[];
}

/** Loads the files; `rolecall.yaml` is a valid one unless given. */
export async function load(files: Readonly<Record<string, string | Buffer>>): Promise<Loaded> {
  const folder = workspace({ 'rolecall.yaml': SERVICE, ...files });
  const loaded = await loadConfiguration(path.join(folder, 'rolecall.yaml'), { today: '2026-06-15' });
  return { ...loaded, folder, lines: loaded.issues.map((issue) => line(issue, folder)) };
}

/** Loads one account's file `accounts/a.yaml`: its header, then `text` from line 3 on. */
export async function loadAccount(
  text: string | Buffer,
  more: Readonly<Record<string, string>> = {},
): Promise<Loaded> {
  const body = typeof text === 'string' ? ACCOUNT + text : text;
  return load({ 'accounts/a.yaml': body, ...more });
}

/** Loads a service file with one valid account. */
export async function loadService(text: string): Promise<Loaded> {
  return load({
    'rolecall.yaml': text,
    'accounts/a.yaml': 'baseUrl: https://x.example.com\ntoken: { env: A }\n',
  });
}

function line({ file, line: row, column, message, severity }: ConfigIssue, folder: string): string {
  return `${path.relative(folder, file)}:${row}:${column} ${severity} ${message.replaceAll(`${folder}/`, '')}`;
}
