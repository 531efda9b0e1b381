import type { Configuration } from '../../../src/core/settings.ts';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkoutRoot } from '../../../src/git/checkout.ts';
import {
  type ConfigurationSource,
  createConfigurationSource,
} from '../../../src/config/configuration-source.ts';
import type { Checkout } from '../../../src/git/checkout.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { formatConfigIssue } from '../../../src/core/errors.ts';
import { type Origin, makeOrigin } from '../git/origin.ts';
import { ACCOUNT, SERVICE, workspace } from './workspace.ts';
import { createCommitReader } from '../../../src/git/commit.ts';

interface Scene {
  readonly origin: Origin;
  readonly checkout: Checkout;
  readonly source: ConfigurationSource;
  /** The local service file, outside of the checkout. */
  readonly bootstrap: string;
}

async function scene(bootstrap: string, files: Readonly<Record<string, string>>): Promise<Scene> {
  const origin = makeOrigin(files);
  const text = `${bootstrap}\nsource: { git: { url: "${origin.settings.url}" } }\n`;
  const file = path.join(workspace({ 'rolecall.yaml': text }), 'rolecall.yaml');
  const checkout = await origin.open();
  const options = { checkout, today: () => '2026-06-15', nowMs: () => 0 };
  return {
    origin,
    checkout,
    source: createConfigurationSource(file, createCommitReader(), options),
    bootstrap: file,
  };
}

function lines({ issues }: Configuration): readonly string[] {
  return issues.map(formatConfigIssue);
}

function skills({ accounts }: Configuration): readonly (string | undefined)[] {
  return accounts.map(({ settings }) => settings?.desired.skill?.map(({ name }) => name).join(' '));
}

describe('the configuration of a checkout', () => {
  test('is empty before the first fetch, with an issue that gives the reason', async () => {
    const { source, checkout } = await scene(SERVICE, { 'config/accounts/a.yaml': ACCOUNT });
    const loaded = await source.read();
    expect(loaded).toMatchObject({ accounts: [] });
    expect(loaded.service).toBeUndefined();
    expect(lines(loaded)).toEqual([
      expect.stringContaining(
        'the daemon has not fetched the repository of `source.git` yet; check its log if this does not change',
      ),
    ]);
    expect(await source.commit()).toBeNull();
    await checkout.refresh();
    expect((await source.readFor('a')).issues).toEqual([]);
  });

  test('has the accounts of the checkout, with the settings of the local service file when it has none of its own', async () => {
    const { source, checkout, bootstrap } = await scene(
      `${SERVICE}defaults: { mode: apply }\naccounts: people/*.yaml`,
      {
        'config/people/a.yaml': `${ACCOUNT}extends: [../shared/c.yaml]`,
        'config/shared/c.yaml': 'skills: [C]',
      },
    );
    await checkout.refresh();
    const loaded = await source.read();
    expect(lines(loaded)).toEqual([]);
    expect(skills(loaded)).toEqual(['C']);
    expect(loaded.accounts[0]?.settings?.mode).toBe('apply');
    expect(loaded.service?.file).toBe(bootstrap);
    expect(await source.commit(loaded)).toMatchObject({ sha: checkout.current()?.sha, dirty: false });
  });

  test('takes accounts, regions and defaults from its own service file, and the rest from the local one', async () => {
    const { source, checkout, bootstrap } = await scene(
      'regions: { us: "https://eu.example.com:443/us" }\ntrust: { files: [../**/secret] }\ndefaults: { mode: apply }\nstore: own.db\napi: { retries: 2, caFile: ca.pem }\nhttp: { listen: "127.0.0.1:1", token: { env: OWN } }',
      {
        'config/rolecall.yaml': `${SERVICE}defaults: { timezone: Europe/Berlin }\napi: { retries: 1, caFile: ca.pem }\nstore: other.db\nhttp: { token: { env: OTHER } }\naccounts: all/*.yaml`,
        'config/all/a.yaml': 'region: eu\ntoken: { file: ../../secret }\nskills: [A]',
      },
    );
    await checkout.refresh();
    const loaded = await source.read();
    const ignored =
      /config\/rolecall\.yaml:3:1: `api` is not used here: it is read only from the service file of the machine/u;
    expect(lines(loaded)).toEqual([expect.stringMatching(ignored)]);
    expect(loaded.issues.map(({ severity }) => severity)).toEqual(['warning']);
    expect(loaded.service).toMatchObject({
      store: { file: path.join(path.dirname(bootstrap), 'own.db') },
      http: { port: 1, token: { env: 'OWN' } },
      api: { retries: 2, caFile: path.join(path.dirname(bootstrap), 'ca.pem') },
      source: { git: { branch: 'main' } },
    });
    expect(loaded.accounts[0]?.settings).toMatchObject({
      baseUrl: 'https://eu.example.com',
      mode: 'plan',
      timezone: 'Europe/Berlin',
      token: { file: path.join(checkout.link, 'secret') },
    });
    expect(loaded.secrets.map(({ what }) => what)).toEqual(['http.token', 'token of a']);
  });

  test('has its own service file checked completely, and files are named by their paths in the repository', async () => {
    const { source, checkout, origin } = await scene(SERVICE, {
      'config/rolecall.yaml': `${SERVICE}notfy: []`,
      'config/accounts/a.yaml': `${ACCOUNT}mode: soon`,
      'config/accounts/b.yaml': `${ACCOUNT.replace('A_', 'B_')}extends: [../c.yaml]`,
    });
    await checkout.refresh();
    const loaded = await source.read();
    expect(lines(loaded)).toEqual([
      expect.stringMatching(/^config\/accounts\/a\.yaml:3:7: mode/u),
      expect.stringMatching(/^config\/accounts\/b\.yaml:3:11: there is no file "config\/c\.yaml"/u),
      expect.stringMatching(/^config\/rolecall\.yaml:2:1: unknown key "notfy"/u),
    ]);
    expect(loaded.service).toBeUndefined();
    expect(loaded.accounts.map(({ settings }) => settings)).toEqual([undefined, undefined]);
    origin.commit({ 'config/rolecall.yaml': SERVICE });
    await checkout.refresh();
    expect((await source.readFor('b')).service).toBeDefined();
  });

  test('changes with the next commit only where files changed, and keeps its paths', async () => {
    const { source, checkout, origin } = await scene(SERVICE, {
      'config/accounts/a.yaml': `${ACCOUNT}skills: [A]`,
      'config/accounts/b.yaml': `${ACCOUNT.replace('A_', 'B_')}skills: [B]`,
    });
    await checkout.refresh();
    const before = await source.readFor('a');
    const first = await source.commit(before);
    const second = origin.commit({ 'config/accounts/a.yaml': `${ACCOUNT}skills: [Z]` });
    await checkout.refresh();
    const after = await source.readFor('b');
    expect(skills(after)).toEqual(['Z', 'B']);
    expect(after.accounts[1]?.settings).toEqual(before.accounts[1]?.settings);
    expect(after.accounts.map(({ file }) => file)).toEqual(before.accounts.map(({ file }) => file));
    expect(await source.commit(after)).toMatchObject({ sha: second });
    expect(await source.commit(before)).toMatchObject({ sha: first?.sha });
    expect(await source.compareCommits(first?.sha ?? '', second)).toBe('ancestor');
    const third = origin.commit({ README: 'nothing of the configuration' });
    await checkout.refresh();
    expect(await source.readFor('a')).toBe(after);
    expect(await source.commit()).toMatchObject({ sha: third });
    // Somebody writes into the folder of the daemon.
    const [file = ''] = after.accounts[0]?.files?.slice(-1) ?? [];
    writeFileSync(file, `${ACCOUNT}skills: [Y]`);
    const { changed } = (await source.commit(await source.read())) ?? {};
    expect(changed?.get(file)).toBe('config/accounts/a.yaml');
  });

  test.each(['/etc/hostname', '/missing'])('keeps its commit beside a link to %s', async (target) => {
    const { source, checkout, origin } = await scene(SERVICE, { 'config/accounts/a.yaml': ACCOUNT });
    symlinkSync(target, path.join(origin.folder, 'config/accounts/z.yaml'));
    const sha = origin.commit({});
    await checkout.refresh();
    const { accounts } = await source.read();
    expect(accounts.map(({ settings }) => settings !== undefined)).toEqual([true, false]);
    expect(await source.commit()).toMatchObject({ sha, dirty: false });
  });

  test('is never a mixture of two commits while it is updated', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `config/accounts/a${index}.yaml`);
    const version = (text: string): Record<string, string> =>
      Object.fromEntries(
        names.map((name, index) => [name, `region: eu\ntoken: { env: T${index} }\nskills: [${text}]`]),
      );
    const { source, checkout, origin } = await scene(SERVICE, version('v0'));
    await checkout.refresh();
    let isUpdating = true;
    const seen = new Set<string | undefined>();
    const readers = Array.from({ length: 2 }, async (_, reader) => {
      while (isUpdating) {
        const loaded = await (reader % 2 === 0 ? source.read() : source.readFor(`a${reader}`));
        const versions = new Set(skills(loaded));
        expect([lines(loaded), versions.size]).toEqual([[], 1]);
        for (const text of versions) seen.add(text);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    try {
      for (let turn = 1; turn <= 4; turn += 1) {
        origin.commit(version(`v${turn}`));
        await checkout.refresh();
        expect(skills(await source.readFor('a0'))[0]).toBe(`v${turn}`);
      }
    } finally {
      isUpdating = false;
    }
    await Promise.all(readers);
    expect(seen.size).toBeGreaterThan(1);
  });
});

test('the checkout is beside the SQLite file, or where that would be with PostgreSQL', () => {
  const file = '/srv/config/rolecall.yaml';
  const postgres = { url: { env: 'A' }, schema: 'rolecall' };
  expect(checkoutRoot({ file, store: { file: '/var/lib/rolecall.db' } })).toBe('/var/lib/checkout');
  expect(checkoutRoot({ file, store: { postgres } })).toBe('/srv/data/checkout');
  const installed = { file: '/etc/rolecall/rolecall.yaml', store: { postgres } };
  expect(checkoutRoot(installed)).toBe('/var/lib/rolecall/checkout');
});

test('a service file with `source.git` needs no account files beside it', async () => {
  const folder = workspace({ 'rolecall.yaml': 'source: { git: { url: https://git.example.com/a.git } }' });
  const loaded = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
  expect(loaded.issues).toMatchObject([
    {
      severity: 'warning',
      message: expect.stringContaining('the daemon reads the accounts from `source.git`'),
    },
  ]);
  writeFileSync(path.join(folder, 'rolecall.yaml'), '{}');
  const without = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
  expect(without.issues).toMatchObject([{ severity: 'error' }]);
});
