// What the daemon tells systemd, heard by a `systemd-notify` of the test's own.
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
    const heard = (): string[] =>
      existsSync(heardFile) ? readFileSync(heardFile, 'utf8').trim().split('\n') : [];
    const daemon = workspace.start(['serve'], {
      env: {
        NOTIFY_SOCKET: '/run/systemd/notify',
        WATCHDOG_USEC: '400000',
        HEARD: heardFile,
        PATH: `${join(workspace.folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      },
    });
    await until('it is ready', () => heard().includes('READY=1'));
    expect(heard()[1]).toMatch(/^STATUS=listens at http:\/\/127\.0\.0\.1:\d+$/);
    await until('it lives', () => heard().filter((word) => word === 'WATCHDOG=1').length > 1);
    daemon.process.kill('SIGHUP');
    await until('it reloads', () => heard().includes('RELOADING=1'));
    await until('it has reloaded', () => heard().lastIndexOf('READY=1') > heard().indexOf('RELOADING=1'));
    daemon.process.kill('SIGTERM');
    expect((await daemon.ended).status).toBe(0);
    await until('it stops', () => heard().includes('STOPPING=1'));
  } finally {
    await sandbox.close();
  }
});
