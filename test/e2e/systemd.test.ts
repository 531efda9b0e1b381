// The notifications of the daemon to systemd, recorded by a `systemd-notify` script of the test.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { makeWorkspace, QUICK_API, until } from '../support/workspace.ts';

test('the daemon notifies systemd when it is ready, alive, reloading and stopping', async () => {
  const sandbox = await startSandbox({ seed: { accounts: [{ name: 'acme', token: 'token-of-acme' }] } });
  try {
    const workspace = makeWorkspace('token-of-acme');
    workspace.write(
      'config/rolecall.yaml',
      `store: ../data/rolecall.db\napi: ${QUICK_API}\nhttp: { listen: 127.0.0.1:0 }\n`,
    );
    workspace.write(
      'config/accounts/acme.yaml',
      `baseUrl: ${sandbox.url}\ntoken: { env: ACME_TOKEN }\nskills: [Go]\n`,
    );
    workspace.write('bin/systemd-notify', '#!/bin/sh\nfor word in "$@"; do echo "$word" >> "$HEARD"; done\n');
    chmodSync(join(workspace.folder, 'bin/systemd-notify'), 0o755);
    const heardFile = join(workspace.folder, 'heard');
    const notified = (): string[] =>
      existsSync(heardFile) ? readFileSync(heardFile, 'utf8').trim().split('\n') : [];
    const daemon = workspace.start(['serve'], {
      env: {
        NOTIFY_SOCKET: '/run/systemd/notify',
        WATCHDOG_USEC: '400000',
        HEARD: heardFile,
        PATH: `${join(workspace.folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      },
    });
    await until('it is ready', () => notified().includes('READY=1'));
    expect(notified()[1]).toMatch(/^STATUS=listens at http:\/\/127\.0\.0\.1:\d+$/);
    await until(
      'the watchdog is notified',
      () => notified().filter((line) => line === 'WATCHDOG=1').length > 1,
    );
    daemon.process.kill('SIGHUP');
    await until('it reloads', () => notified().includes('RELOADING=1'));
    await until(
      'it has reloaded',
      () => notified().lastIndexOf('READY=1') > notified().indexOf('RELOADING=1'),
    );
    daemon.process.kill('SIGTERM');
    expect((await daemon.ended).status).toBe(0);
    await until('it stops', () => notified().includes('STOPPING=1'));
  } finally {
    await sandbox.close();
  }
});
