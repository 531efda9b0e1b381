// Tokens that somebody pasted in place of a variable name or a file path: no output must repeat them.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { scene } from '../support/scene.ts';
import { until } from '../support/workspace.ts';

const PASTED = {
  env: 'sk_live_51HxAbCdEfGhIjKlMnOpQrStUvWxYz',
  file: 'ghp_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8',
  quoted: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5NXgL0n3I9P',
} as const;

const COMMANDS = [
  ['validate'],
  ['validate', '--format', 'json'],
  ['validate', '--require-secrets'],
  ['plan', '--format', 'json'],
  ['apply', '--yes', 'env', 'file'],
  ['validate', '--online', '--format', 'json'],
  ['history', '--format', 'json'],
];

test('no command, log, page or store repeats a token that was pasted in place of a name', async () => {
  const s = await scene({
    service: `defaults: { schedule: ${ONCE_A_YEAR} }\n${WITH_TOKEN}`,
  });
  const account = (token: string): string => `baseUrl: ${s.sandbox.url}\ntoken: ${token}\nskills: [Go]\n`;
  s.write('config/accounts/env.yaml', account(`{ env: ${PASTED.env} }`));
  s.write('config/accounts/file.yaml', account(`{ file: ${PASTED.file} }`));
  s.write('config/accounts/quoted.yaml', account(`{ file: "${PASTED.quoted}" }`));
  s.write('config/accounts/bare.yaml', account(PASTED.env));
  const outputs: string[] = [];
  for (const args of COMMANDS) {
    const { stdout, stderr } = await s.run(args);
    outputs.push(stdout, stderr);
  }
  const daemon = await startDaemon(s);
  await until('every account failed', () => daemon.runsEnded('env') > 0 && daemon.runsEnded('file') > 0);
  for (const path of [
    '',
    'accounts/env',
    'accounts/file',
    'accounts/bare',
    'api/v1/accounts',
    'api/v1/status',
    'api/v1/runs',
  ]) {
    const reply = await fetch(`${daemon.url}/${path}`, {
      headers: { authorization: `Bearer ${HTTP_TOKEN}` },
    });
    outputs.push(await reply.text());
  }
  outputs.push((await daemon.get('/metrics')).text);
  await daemon.stop();
  outputs.push(daemon.output().stderr);
  for (const name of readdirSync(join(s.folder, 'data'))) {
    outputs.push(readFileSync(join(s.folder, 'data', name), 'latin1'));
  }
  const all = outputs.join('\n');
  expect(all).toContain('its name is not shown');
  for (const token of Object.values(PASTED)) expect(all.includes(token.slice(0, 16)), token).toBe(false);
});
