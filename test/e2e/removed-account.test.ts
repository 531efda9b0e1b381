// An account whose file is removed during its run: the run ends, and only its counters remain.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { EVERY_SECOND, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { scene } from '../support/scene.ts';
import { costly } from '../support/thorough.ts';

costly('an account that is removed during its run leaves no gauge behind', async () => {
  const s = await scene({
    file: 'skills: [Go]',
    service: [`defaults: { mode: apply, schedule: ${EVERY_SECOND} }`, WITH_TOKEN].join('\n'),
    others: [{ name: 'beta', id: '43', token: 'token-of-beta' }],
    api: { timeout: '10s', settle: '11s' },
  });
  s.configure('skills: [Lathe]', 'beta');
  const daemon = await startDaemon(s);
  await s.until('both run', () => daemon.runsEnded('acme') > 0 && daemon.runsEnded('beta') > 0);
  s.sandbox.setFaults([{ match: { account: 'beta' }, times: 'always', do: { type: 'latency', ms: 1500 } }]);
  const activity = async (): Promise<unknown> => (await daemon.api('accounts/beta')).body['activity'];
  const reading = (): boolean =>
    s.sandbox.requests().some(({ account, status }) => account === 'beta' && status === null);
  await s.until('a run is under way', async () => reading() && (await activity()) === 'running');
  const before = daemon.runsEnded('beta');
  rmSync(join(s.folder, 'config/accounts/beta.yaml'));
  await s.until('it is unscheduled', () => daemon.events('unscheduled', 'beta').length > 0);
  await s.until('the run has ended', () => daemon.runsEnded('beta') > before);
  const gauges = [...(await daemon.metrics()).keys()].filter(
    (key) => key.includes('account="beta"') && !/_(?:total|sum|count|bucket)\{/.test(key),
  );
  expect(gauges).toEqual([]);
  await daemon.stop();
});
