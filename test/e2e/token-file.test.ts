// `plan --server` for an account whose token is in a file beside its configuration: that file is on the daemon's
// machine only, and the reference to it is the same on both (relative to the file that contains it).
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/core/plan.ts';
import { HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { arrayOf, scene } from '../support/scene.ts';
import { makeWorkspace } from '../support/workspace.ts';

test('plan --server plans accounts whose token files are only on the daemon’s machine', async () => {
  const s = await scene({
    service: `defaults: { schedule: ${ONCE_A_YEAR} }\n${WITH_TOKEN}`,
    others: [{ name: 'other', token: 'token-of-other', resources: [{ id: 'someone' }] }],
  });
  const tokens = { acme: '../secrets/acme', other: '../../secrets/other' };
  const account = (name: keyof typeof tokens, lines: string): string =>
    `baseUrl: ${s.sandbox.url}\ntoken: { file: ${tokens[name]} }\n${lines}\n`;
  const client = makeWorkspace('not-used');
  client.write('config/rolecall.yaml', '{}');
  for (const name of ['acme', 'other'] as const) {
    s.write(join('config/accounts', tokens[name]), `token-of-${name}`);
    s.write(`config/accounts/${name}.yaml`, account(name, 'skills: [Go]'));
    client.write(`config/accounts/${name}.yaml`, account(name, 'skills: [Go, Zig]'));
  }
  const daemon = await startDaemon(s);
  const result = await client.run(['plan', '--server', daemon.url, '--format', 'json'], {
    env: { ROLECALL_HTTP_TOKEN: HTTP_TOKEN },
  });
  for (const plan of arrayOf<Plan>(result))
    expect(plan).toMatchObject({ status: 'planned', operations: [{ name: 'Go' }, { name: 'Zig' }] });
  expect(arrayOf(result)).toHaveLength(2);
});
