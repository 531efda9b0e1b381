// Four accounts for several daemons on one PostgreSQL store.
import { type Daemon, WITH_TOKEN } from './daemon.ts';
import { scene, type Scene } from './scene.ts';

export const LEASE_MS = 2500;
/** Those besides `acme`. */
export const ACCOUNTS = ['beta', 'gamma', 'delta'] as const;

interface ReplicaJson {
  readonly id: string;
  readonly pid: number;
  readonly alive: boolean;
  readonly newest: boolean;
}

export async function replicaScene(schedule: string, daemon = ''): Promise<Scene> {
  const on = await scene({
    store: 'postgres',
    file: 'mode: apply\nskills: [Go]',
    others: ACCOUNTS.map((name) => ({ name, token: `token-of-${name}`, resources: [{ id: 'someone' }] })),
    settings: { latencyMs: 10 },
  });
  on.serve(
    {},
    `${WITH_TOKEN}\ndaemon: { lease: ${LEASE_MS}ms, maxRuns: 4${daemon} }\ndefaults: { mode: apply, schedule: ${schedule}, jitter: 0s }`,
  );
  for (const name of ACCOUNTS) on.configure('skills: [Go]', name);
  return on;
}

export async function replicasOf(daemon: Daemon): Promise<readonly ReplicaJson[]> {
  return (await daemon.api<{ replicas: readonly ReplicaJson[] }>('replicas')).body.replicas;
}
