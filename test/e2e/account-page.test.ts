// What the page and the JSON of an account report while it is paused, or plans only.
import { expect, test } from 'vitest';
import { type Daemon, HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { scene } from '../support/scene.ts';

interface AccountJson {
  readonly paused: boolean;
  readonly activity: string;
  readonly nextRunAt: string | null;
  readonly pending: { readonly digest: string } | null;
  readonly lastRun: {
    readonly id: string;
    readonly status: string;
    readonly created: number;
    readonly kept: number;
  };
}

const account = async (daemon: Daemon): Promise<AccountJson> =>
  (await daemon.api<AccountJson>('accounts/acme')).body;

async function page(daemon: Daemon, path = '/accounts/acme'): Promise<string> {
  const headers = { authorization: `Bearer ${HTTP_TOKEN}`, accept: 'text/html' };
  return await (await fetch(daemon.url + path, { headers })).text();
}

function service(mode: string): string {
  return [`defaults: { mode: ${mode}, schedule: ${ONCE_A_YEAR} }`, WITH_TOKEN].join('\n');
}

test('an account in plan mode shows what its plan would do, and no next run while it is paused', async () => {
  const s = await scene({ skills: ['Perl'], file: 'skills: [Zig]', service: service('plan') });
  const daemon = await startDaemon(s);
  await s.until('it has planned', () => daemon.runsEnded('acme', 'planned') > 0);
  const shown = await page(daemon);
  for (const text of ['1 create to apply', 'To create (1)', 'Zig', 'Perl', 'next run <time']) {
    expect(shown).toContain(text);
  }
  expect((await account(daemon)).nextRunAt).not.toBeNull();
  await daemon.api('accounts/acme/pause', {});
  expect(await account(daemon)).toMatchObject({ paused: true, nextRunAt: null });
  expect(await page(daemon)).not.toContain('next run <time');
  expect(await page(daemon, '/')).toContain('data-head="Next run">paused<');
  await daemon.api('accounts/acme/resume', {});
  expect((await account(daemon)).nextRunAt).not.toBeNull();
  await daemon.stop();
});
