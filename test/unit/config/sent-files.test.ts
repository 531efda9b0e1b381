import type { Configuration } from '../../../src/core/settings.ts';
import { rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { collectConfiguration, loadConfiguration } from '../../../src/config/load-configuration.ts';
import { filesFromMemory } from '../../../src/config/configuration-files.ts';
import { type ConfigIssue, formatConfigIssue } from '../../../src/core/errors.ts';
import { expectCpuBelow } from '../../support/thorough.ts';
import { ACCOUNT, SERVICE, words, workspace } from './workspace.ts';

const TODAY = '2026-06-15';

function loadSent(
  files: Readonly<Record<string, string>>,
  root = '/nowhere/at/all',
  config = 'rolecall.yaml',
): Promise<Configuration> {
  return loadConfiguration(path.join(root, config), { files: filesFromMemory(root, files), today: TODAY });
}

function lines({ issues }: Configuration): readonly string[] {
  return issues.map(formatConfigIssue);
}

describe('a configuration that was collected', () => {
  test('contains exactly the files that were read, below their common folder', async () => {
    const folder = workspace({
      'config/rolecall.yaml': SERVICE,
      'config/accounts/a.yaml': `${ACCOUNT}extends: [../../shared/c.yaml]\nskills: [Ä]`,
      'config/accounts/b.yml': ACCOUNT,
      'config/accounts/.hidden.yaml': ACCOUNT,
      'shared/c.yaml': '\uFEFFskills: [B]',
      'shared/d.yaml': 'skills: [C]',
    });
    const collected = await collectConfiguration(path.join(folder, 'config/rolecall.yaml'));
    expect(collected.config).toBe('config/rolecall.yaml');
    expect(collected.files).toEqual({
      'config/rolecall.yaml': SERVICE,
      'config/accounts/a.yaml': `${ACCOUNT}extends: [../../shared/c.yaml]\nskills: [Ä]`,
      'shared/c.yaml': 'skills: [B]',
    });
    expect(collected.loaded.issues.map(({ file, severity }) => [path.basename(file), severity])).toEqual([
      ['.hidden.yaml', 'warning'],
      ['b.yml', 'warning'],
    ]);
  });

  test('loads from memory as it does from the disk', async () => {
    const folder = workspace({
      'rolecall.yaml': `${SERVICE}defaults: { policy: { protect: [P] } }\napi: { caFile: ca.pem }\n`,
      'accounts/a.yaml': `region: eu\ntoken: { file: ../secrets/a }\nextends: [../c.yaml]\nroles: []`,
      'accounts/b.yaml': `${ACCOUNT}skills: [{ name: X, formerly: [Y] }]\nnosuch: 1`,
      'accounts/c.yaml': `${ACCOUNT}extends: [../nowhere.yaml]`,
      'c.yaml': 'skills: [One, two, 2]',
      'ca.pem': 'no certificate',
      'secrets/a': 's3cr3t',
    });
    const { files, loaded, config } = await collectConfiguration(path.join(folder, 'rolecall.yaml'));
    expect(Object.keys(files).toSorted()).toEqual([
      'accounts/a.yaml',
      'accounts/b.yaml',
      'accounts/c.yaml',
      'c.yaml',
      'rolecall.yaml',
    ]);
    rmSync(folder, { recursive: true });
    const sent = await loadSent(files, folder, config);
    const relative = ({ message, file, ...place }: ConfigIssue): unknown => ({
      ...place,
      file: path.relative(folder, path.resolve(folder, file)),
      message: message.replaceAll(`${folder}/`, ''),
    });
    expect(sent.issues.map(relative)).toEqual(loaded.issues.map(relative));
    expect(lines(sent)).toEqual([
      expect.stringMatching(/^accounts\/b\.yaml:2:8: accounts\/c\.yaml has the same base address and token/u),
      expect.stringMatching(/^accounts\/b\.yaml:4:1: unknown key "nosuch"/u),
      expect.stringMatching(/^accounts\/c\.yaml:2:8: accounts\/b\.yaml has the same base address and token/u),
      expect.stringMatching(/^accounts\/c\.yaml:3:11: there is no file "nowhere\.yaml"/u),
      expect.stringMatching(/^c\.yaml:1:20: YAML does not read this name as text/u),
    ]);
    expect(sent.accounts.map(({ settings }) => settings)).toEqual(
      loaded.accounts.map(({ settings }) => settings),
    );
    expect(sent.service).toEqual(loaded.service);
  });
});

describe('a configuration that was sent', () => {
  const VALID = { 'rolecall.yaml': SERVICE, 'accounts/a.yaml': ACCOUNT };

  test('keeps its references to secrets, and reads none', async () => {
    const folder = workspace({ token: 's3cr3t', 'ca.pem': 's3cr3t' });
    const loaded = await loadSent(
      {
        'rolecall.yaml': `${SERVICE}api: { caFile: ca.pem }\nhttp: { token: { file: http } }`,
        'accounts/a.yaml': 'region: eu\ntoken: { file: ../token }',
      },
      folder,
    );
    expect(loaded.issues).toEqual([]);
    expect(loaded.accounts[0]?.settings?.token).toEqual({ file: path.join(folder, 'token') });
    expect(loaded.service?.api.caFile).toBe(path.join(folder, 'ca.pem'));
    expect(JSON.stringify(loaded)).not.toContain('s3cr3t');
  });

  test.each([
    ['an absolute path', '/etc/passwd', '/etc/passwd'],
    ['a path out of the configuration', '../../secret.yaml', '../../secret.yaml'],
    [
      'a long path out of the configuration',
      '../../../../../../../../../../etc/passwd',
      '../../../../../../../../../../etc/passwd',
    ],
    ['a file that was not sent', '../here.yaml', 'here.yaml'],
    ['a link', '../link.yaml', 'link.yaml'],
    ['its own folder', '../accounts', 'accounts'],
  ])('finds no file by %s', async (_title, written, shown) => {
    const outer = workspace({ 'secret.yaml': 's3cr3t: 1', 'inner/here.yaml': 's3cr3t: 1' });
    const folder = path.join(outer, 'inner');
    symlinkSync('/etc/passwd', path.join(folder, 'link.yaml'));
    const loaded = await loadSent({ ...VALID, 'accounts/a.yaml': `${ACCOUNT}extends: [${written}]` }, folder);
    expect(lines(loaded)).toEqual([`accounts/a.yaml:3:11: there is no file "${shown}"; correct the path`]);
    expect(JSON.stringify(loaded.issues)).not.toContain(outer);
  });

  test.each([
    ['accounts: /etc/*.yaml', '/etc'],
    ['accounts: ../*.yaml', 'secret'],
    ['accounts: ../../*/*/*.yaml', 'secret'],
    ['accounts: "*/../../*.yaml"', 'secret'],
    ['accounts: here.yaml', 'here'],
  ])('finds no account by %j', async (accounts) => {
    const outer = workspace({ 'secret.yaml': ACCOUNT, 'inner/here.yaml': ACCOUNT });
    const loaded = await loadSent(
      { 'rolecall.yaml': `${SERVICE}${accounts}\n`, 'other/x.txt': '' },
      path.join(outer, 'inner'),
    );
    expect(loaded.accounts).toEqual([]);
    expect(lines(loaded)).toEqual([
      'rolecall.yaml:2:11: no file matches `accounts` below .; add an account file or correct the glob',
    ]);
  });

  const NO_NAMES =
    '/etc/x.yaml ../x.yaml accounts/../../x.yaml ./accounts/x.yaml accounts//x.yaml accounts/x.yaml/ accounts\\x.yaml ..';
  test.each([...words(NO_NAMES), 'accounts/x\0.yaml', ''])('has no file by the name %j', async (name) => {
    const loaded = await loadSent({
      ...VALID,
      'rolecall.yaml': `${SERVICE}accounts: "**/*"\n`,
      [name]: ACCOUNT,
    });
    expect(loaded.accounts.map((account) => account.name)).toEqual(['a']);
  });

  test('is reported when it lacks the service file, or when it names one outside', async () => {
    expect(lines(await loadSent({}))).toEqual([
      expect.stringMatching(/^rolecall\.yaml:1:1: the file does not exist/u),
    ]);
    const outside = await loadSent(VALID, '/srv/private', '../../etc/passwd');
    expect(lines(outside)).toEqual([
      expect.stringMatching(/^a file that was not sent:1:1: the file does not exist/u),
    ]);
  });

  test.each([
    ['is too large', 'x'.repeat(1024 * 1024 + 1), '1:1: the file has 1048577 bytes'],
    ['is too large as UTF-8', `skills: [${'ä'.repeat(600_000)}]`, '1:1: the file has 1200010 bytes'],
    ['has an unpaired surrogate', `${ACCOUNT}skills: [a\uD83D]`, '3:11: the file is not valid UTF-8 here'],
    ['starts with an unpaired surrogate', '\uDE00', '1:1: the file is not valid UTF-8 here'],
    ['is empty', '', '1:1: the file is empty'],
    ['is broken', `${ACCOUNT}mode: a: b`, '3:7: this line has a second ": "'],
  ])('has the same issue as a file on disk when it %s', async (_title, text, line) => {
    const loaded = await loadSent({ ...VALID, 'accounts/a.yaml': text });
    expect(lines(loaded)).toEqual([expect.stringContaining(`accounts/a.yaml:${line}`)]);
  });

  test('cannot keep the daemon busy with a glob', async () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`d${i}/x`, '']));
    await expectCpuBelow(2000, async () => {
      for (const accounts of ['*a'.repeat(60), '*/../'.repeat(60)]) {
        await loadSent({
          ...many,
          [`${'a'.repeat(200)}b`]: '',
          'rolecall.yaml': `${SERVICE}accounts: "${accounts}"\n`,
        });
      }
    });
  });
});
