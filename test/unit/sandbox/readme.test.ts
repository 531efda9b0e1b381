// The reference in src/sandbox/README.md against the sandbox: the examples of files are read, every table is compared with the
// code.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { parseFaults } from '../../../src/sandbox/faults.ts';
import { SandboxError, type SandboxSeed } from '../../../src/sandbox/sandbox.ts';
import { parseSeed } from '../../../src/sandbox/seed.ts';
import { changeSettings, DEFAULT_SETTINGS } from '../../../src/sandbox/settings.ts';
import { call, only, start } from './client.ts';

const readme = readFileSync(
  fileURLToPath(new URL('../../../src/sandbox/README.md', import.meta.url)),
  'utf8',
);

interface Example {
  readonly language: string;
  /** What follows the language: `seed`, `faults`, `rolecall.yaml` … */
  readonly title: string;
  readonly text: string;
}

const examples: readonly Example[] = [...readme.matchAll(/^```(\w+) ?(.*)\n([^]*?)^```$/gm)].map(
  ([, language = '', title = '', text = '']) => ({ language, title, text }),
);

function jsonExample(title: string): unknown {
  const found = only(examples.filter((each) => each.language === 'json' && each.title === title));
  return JSON.parse(found.text) as unknown;
}

/** The cells of the tables in a section, without their headings. */
function rowsOf(section: string, heading: string): string[][] {
  const text = only(readme.split(/^(?=##+ )/m).filter((each) => each.startsWith(`${section}\n`)));
  const tables = text.split('\n\n').filter((part) => part.startsWith('|'));
  const wanted = tables.filter((table) => table.slice(1).trimStart().startsWith(`${heading} `));
  return wanted.flatMap((table) =>
    table
      .trim()
      .split('\n')
      .slice(2)
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
  );
}

function codeIn(cell: string | undefined): string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** The keys that the parser lists for an unknown key. */
function knownKeys(parse: () => unknown): string[] {
  return /the keys are (.*)/.exec(messageOf(parse))?.[1]?.split(', ') ?? [];
}

function messageOf(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    if (error instanceof SandboxError) return error.message;
    throw error;
  }
  return '';
}

function isAccepted(name: string, value: unknown): boolean {
  return messageOf(() => changeSettings(DEFAULT_SETTINGS, { [name]: value })) === '';
}

describe('an example in the README of the sandbox', () => {
  it('of a seed, of faults and of settings is accepted, and a sandbox starts with them', async () => {
    const seed = parseSeed(jsonExample('seed'));
    const faults = parseFaults(jsonExample('faults'));
    const settings = changeSettings(DEFAULT_SETTINGS, jsonExample('settings') as object);
    const sandbox = await start({ seed, faults, settings });
    expect(sandbox.faults().faults).toEqual(faults);
    expect(sandbox.settings()).toEqual(settings);
    expect(sandbox.accounts.map(({ name, token }) => [name, token])).toEqual([
      ['acme', 'token-of-acme'],
      ['globex', 'sandbox-token-2'],
    ]);
  });

  it('of a request has the response that the page shows', async () => {
    const { url } = await start({ seed: jsonExample('seed') as SandboxSeed });
    const generated = { _id: expect.stringMatching(/^[0-9a-f]{24}$/), createDate: expect.any(String) };
    const answered: string[] = [];
    for (const [at, { title, text }] of examples.entries()) {
      const [method = '', path = ''] = title.split(' ');
      if (!['GET', 'POST', 'DELETE'].includes(method)) continue;
      const sent = method === 'POST' ? { raw: text } : {};
      const reply = await call(method, url + path, { token: 'token-of-acme', ...sent });
      const shown = examples[at + 1];
      const body = JSON.parse(method === 'POST' ? (shown?.text ?? '') : text) as object | string;
      if (method === 'POST') expect(`response ${reply.status}`).toBe(shown?.title);
      expect(JSON.parse(reply.text)).toEqual(
        reply.status === 201 ? { ...(body as object), ...generated } : body,
      );
      answered.push(`${method} ${reply.status}`);
    }
    expect(answered).toEqual(['GET 200', 'GET 200', 'POST 201', 'DELETE 200', 'DELETE 404', 'POST 422']);
  });

  it('of a configuration of rolecall is valid', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-readme-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    for (const { title, text } of examples.filter(({ language }) => language === 'yaml')) {
      mkdirSync(dirname(join(folder, title)), { recursive: true });
      writeFileSync(join(folder, title), text);
    }
    const { accounts, issues } = await loadConfiguration(join(folder, 'rolecall.yaml'));
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(accounts.map(({ name }) => name)).toEqual(['acme']);
  });
});

describe('a table in the README of the sandbox', () => {
  it('lists every setting with its default, and its type', () => {
    const rows = rowsOf('## Settings', 'setting');
    const documented = rows.map(([name, , value]) => [only(codeIn(name)), JSON.parse(only(codeIn(value)))]);
    expect(Object.fromEntries(documented)).toEqual(DEFAULT_SETTINGS);
    for (const [cell, type = ''] of rows) {
      const name = only(codeIn(cell));
      expect([name, isAccepted(name, null)]).toEqual([name, type.endsWith('or null')]);
      for (const value of codeIn(type))
        expect([name, isAccepted(name, JSON.parse(value))]).toEqual([name, true]);
      const [, low, high] = /^(\d+)–(\d+)/.exec(type) ?? [];
      if (low === undefined) continue;
      const bounds = [Number(low) - 1, Number(low), Number(high), Number(high) + 1];
      expect([name, bounds.map((each) => isAccepted(name, each))]).toEqual([
        name,
        [false, true, true, false],
      ]);
    }
  });

  it('lists every fault action with all its fields', () => {
    const actions = rowsOf('## Faults', 'action').map(
      ([cell]) => JSON.parse(only(codeIn(cell))) as { type: string },
    );
    const types = /one of (.*)/.exec(messageOf(() => parseFaults([{ do: {} }])))?.[1]?.split(', ');
    expect(actions.map(({ type }) => type).toSorted()).toEqual(types?.toSorted());
    for (const action of actions) {
      expect(parseFaults([{ do: action }])).toHaveLength(1);
      const keys = knownKeys(() => parseFaults([{ do: { ...action, unknown: 1 } }]));
      expect(Object.keys(action).toSorted()).toEqual(keys.toSorted());
    }
  });

  it('lists every field of a fault rule and of a seed', () => {
    const rule = knownKeys(() => parseFaults([{ do: { type: 'html' }, unknown: 1 }]));
    const match = knownKeys(() => parseFaults([{ match: { unknown: 1 }, do: { type: 'html' } }]));
    const documented = rowsOf('## Faults', 'field').flatMap(([cell]) => codeIn(cell));
    const expected = [...rule.filter((key) => key !== 'match'), ...match.map((key) => `match.${key}`)];
    expect(documented.toSorted()).toEqual(expected.toSorted());

    const account = knownKeys(() => parseSeed({ accounts: [{ name: 'a', unknown: 1 }] }));
    const accountRows = rowsOf('## The seed', 'field of an account').flatMap(([cell]) => codeIn(cell));
    expect(accountRows.toSorted()).toEqual(account.toSorted());
    const resource = knownKeys(() => parseSeed({ accounts: [{ name: 'a', resources: [{ unknown: 1 }] }] }));
    const resourceRows = rowsOf('## The seed', 'field of a resource').flatMap(([cell]) => codeIn(cell));
    expect(resourceRows.toSorted()).toEqual(resource.toSorted());
  });
});
