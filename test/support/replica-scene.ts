// Four accounts for several daemons on one PostgreSQL store.
import { WITH_TOKEN } from './daemon.ts';
import { scene, type Scene } from './scene.ts';

/** Those besides `acme`. */
export const ACCOUNTS = ['beta', 'gamma', 'delta'] as const;

export async function replicaScene(schedule: string): Promise<Scene> {
  const on = await scene({
    store: 'postgres',
    file: 'mode: apply\nskills: [Go]',
    others: ACCOUNTS.map((name) => ({ name, token: `token-of-${name}`, resources: [{ id: 'someone' }] })),
    settings: { latencyMs: 10 },
  });
  on.serve(
    { timeout: '2s', settle: '2500ms' },
    `${WITH_TOKEN}\ndefaults: { mode: apply, schedule: ${schedule} }`,
  );
  for (const name of ACCOUNTS) on.configure('skills: [Go]', name);
  return on;
}
