// `plan --server` for an account whose token is in a file beside its configuration: that file is on the daemon's
// machine only, and the reference to it is the same on both (relative to the file that contains it).
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/core/plan.ts';
import { HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { arrayOf, changesOf, scene, TOKEN } from '../support/scene.ts';
import { makeWorkspace } from '../support/workspace.ts';

test.each(['../secrets/acme', '../../secrets/acme'])(
  'plan --server plans an account whose token file %s is only on the daemon’s machine',
  async (file) => {
    const s = await scene({
      service: `defaults: { schedule: ${ONCE_A_YEAR} }\n${WITH_TOKEN}`,
    });
    const account = (lines: string): string =>
      `baseUrl: ${s.sandbox.url}\ntoken: { file: ${file} }\n${lines}\n`;
    s.write(join('config/accounts', file), TOKEN);
    s.write('config/accounts/acme.yaml', account('skills: [Go]'));
    expect(changesOf((await s.plan()).plan)).toEqual(['create Go']);
    const daemon = await startDaemon(s);

    const client = makeWorkspace('not-used');
    client.write('config/rolecall.yaml', '{}');
    client.write('config/accounts/acme.yaml', account('skills: [Go, Zig]'));
    const result = await client.run(['plan', '--server', daemon.url, '--format', 'json'], {
      env: { ROLECALL_HTTP_TOKEN: HTTP_TOKEN },
    });
    const [plan] = arrayOf<Plan>(result);
    expect(plan).toMatchObject({ status: 'planned', operations: [{ name: 'Go' }, { name: 'Zig' }] });
  },
);
