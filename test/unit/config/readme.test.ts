// The reference in config/README.md against the code: the tables are current, the examples are valid, and the defaults
// are those that an empty file gets.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { accountSchema } from '../../../src/config/account-schema.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { serviceSchema } from '../../../src/config/service-schema.ts';
import { HOLD_RULES } from '../../../src/core/journal.ts';
import { workspace } from './workspace.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const readme = readFileSync(path.join(ROOT, 'config/README.md'), 'utf8');

const ADDRESS = 'baseUrl: https://eu.planning.example.com\ntoken: { env: ACME_EU_TOKEN }\n';

/** The YAML examples; `title` is the file that an example shows, or `account` for a part of an account file. */
const examples = [...readme.matchAll(/^```yaml (\S+)\n([^]*?)^```$/gm)].map(([, title = '', text = '']) => ({
  title,
  text,
}));

type Tree = Record<string, unknown>;

interface Row {
  /** `rolecall` or `account`. */
  readonly file: string;
  /** Where the key is in the file, such as `defaults.policy`. */
  readonly path: readonly string[];
  readonly key: string;
  readonly unset: string;
  readonly example: string;
}

const rows = [...readme.matchAll(/^<!-- keys: (\w+) ?([\w.]*) -->$([^]*?)^<!-- end of keys -->$/gm)].flatMap(
  ([, file = '', section = '', table = '']): Row[] =>
    table
      .trim()
      .split('\n')
      .slice(2)
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, key = '', , unset = '', , example = '']) => ({
        file,
        path: section === '' ? [] : section.split('.'),
        key: codeIn(key)[0] ?? '',
        unset,
        example,
      })),
);

function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** `value` below the keys of `at`; webhooks are a list. */
function nested(at: readonly string[], value: unknown): unknown {
  return at.reduceRight((inner, key) => ({ [key]: key === 'notify' ? [inner] : inner }), value);
}

/** `tree` with every default that the tables of a file show, or those of one section; not those within a key that is left out. */
function withDefaults(tree: Tree, file: string, section?: string): Tree {
  for (const { file: other, path: at, key, unset } of rows) {
    const [value] = codeIn(unset);
    if (other !== file || value === undefined || /\[\]|\./.test(key)) continue;
    if (section !== undefined && at[0] !== section) continue;
    let place = tree;
    for (const step of at) {
      const inner = (place[step] ??= {}) as Tree | Tree[];
      place = Array.isArray(inner) ? (inner[0] ?? {}) : inner;
    }
    // A store in a database has no path.
    place[key] ??= parse(value);
  }
  return tree;
}

async function load(rolecall: string, account: string) {
  const folder = workspace({ 'config/rolecall.yaml': rolecall, 'config/accounts/acme.yaml': account });
  return await loadConfiguration(path.join(folder, 'config/rolecall.yaml'));
}

describe('the reference of the configuration', () => {
  test('is current', () => {
    const script = path.join(ROOT, 'test/support/config-reference.mjs');
    expect(() => execFileSync(process.execPath, [script, '--check'])).not.toThrow();
  });

  test('lists every rule that holds a change', () => {
    const section = readme.split(/^### /m).find((text) => text.startsWith('Why a delete is held')) ?? '';
    const listed = [...section.matchAll(/^\| `(\w+)` /gm)].map(([, rule = '']) => rule);
    expect(listed.slice(0, HOLD_RULES.length).toSorted()).toEqual(HOLD_RULES.toSorted());
  });

  test('has a valid example of each key', () => {
    expect(rows.length).toBeGreaterThan(60);
    for (const { file, path: at, key, example } of rows) {
      expect([key, codeIn(example)]).not.toEqual([key, []]);
      // The example of the list contains its members.
      if (key.includes('[]')) continue;
      const own = key.split('.').slice(0, -1);
      const required = rows
        .filter((row) => row.file === file && row.path.join() === at.join() && row.unset === 'required')
        .filter((row) => row.key.split('.').slice(0, -1).join() === own.join());
      for (const code of codeIn(example)) {
        const parts = [...required.map((row) => codeIn(row.example)[0] ?? ''), code].map(
          (part) => parse(part) as object,
        );
        const value = nested([...at, ...own], Object.assign({}, ...parts));
        const result = (file === 'account' ? accountSchema : serviceSchema).safeParse(value);
        expect([code, result.error?.message]).toEqual([code, undefined]);
      }
    }
  });

  test('shows the defaults of the service file', () => {
    const url = 'https://example.com/x';
    const postgres = () => ({ url: { env: 'DATABASE' } });
    const minimal = () => ({ store: { postgres: postgres() }, notify: [{ url }], source: { git: { url } } });
    const explicit = serviceSchema.parse(withDefaults(minimal(), 'rolecall'));
    const { defaults } = explicit;
    expect(explicit).toEqual({ ...serviceSchema.parse(minimal()), defaults });
  });

  test('shows the defaults of an account that sets nothing', async () => {
    const service = withDefaults({}, 'rolecall', 'defaults');
    const account = withDefaults(parse(ADDRESS) as Tree, 'account');
    expect(Object.keys(service)).toEqual(['defaults']);
    const [explicit, implicit] = [
      await load(JSON.stringify(service), JSON.stringify(account)),
      await load('{}', ADDRESS),
    ];
    expect(explicit.issues).toEqual([]);
    const settingsOf = ({ accounts }: typeof explicit) => ({ ...accounts[0]?.settings, file: '' });
    expect(settingsOf(explicit)).toEqual(settingsOf(implicit));
  });
});

describe('an example in the reference of the configuration', () => {
  test('has a title with a known file name', () => {
    const titles = /^(config\/(rolecall|accounts\/[\w-]+|catalogs\/\w+)\.yaml|account)$/;
    expect(examples.filter(({ title }) => !titles.test(title))).toEqual([]);
    expect(examples.length).toBeGreaterThan(10);
  });

  test.each(examples)('of $title is valid (%#)', async ({ title, text }) => {
    const catalog = examples.find((example) => example.title.includes('catalogs/'))?.text ?? '';
    const folder = workspace({
      'config/catalogs/engineering.yaml': catalog,
      'config/rolecall.yaml': 'regions: { eu: https://eu.example.com, us: https://us.example.com }\n',
      'config/accounts/acme.yaml': `${ADDRESS}extends: [../catalogs/engineering.yaml]\n`,
      'config/accounts/canary-1.yaml': ADDRESS.replace('EU', 'CANARY'),
      ...(title === 'account'
        ? {
            'config/accounts/part.yaml': /^token:/m.test(text)
              ? `baseUrl: https://a.example.com\n${text}`
              : ADDRESS.replace('EU', 'US') + text,
          }
        : { [title]: text }),
    });
    const { issues } = await loadConfiguration(path.join(folder, 'config/rolecall.yaml'));
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});
