// The guarantees of the manifests, and that the configurations beside them are valid where they are mounted.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkoutRoot } from '../../../src/git/checkout.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { makeFolder } from '../../support/folder.ts';
import { Node, textOf, yamlOf } from './operational-file.ts';

const FOLDER = 'config/deploy/kubernetes';
const deployment = yamlOf(`${FOLDER}/base/deployment.yaml`);
const pod = deployment.at('spec', 'template', 'spec');
const container = pod.at('containers', 0);

describe('the deployment', () => {
  it('is one daemon, which is replaced after it has ended', () => {
    expect(deployment.at('spec', 'replicas').value).toBe(1);
    expect(deployment.at('spec', 'strategy').value).toEqual({ type: 'Recreate' });
    expect(pod.at('containers').items()).toHaveLength(1);
    expect(pod.at('terminationGracePeriodSeconds').value).toBeGreaterThan(20);
  });

  it('uses /healthz for liveness and /readyz for readiness', () => {
    const probe = (name: string): unknown => container.at(name, 'httpGet').value;
    expect(probe('startupProbe')).toEqual({ path: '/healthz', port: 'http' });
    expect(probe('livenessProbe')).toEqual({ path: '/healthz', port: 'http' });
    expect(probe('readinessProbe')).toEqual({ path: '/readyz', port: 'http' });
    expect(container.at('ports').value).toEqual([{ name: 'http', containerPort: 8080 }]);
  });

  it('runs as an unprivileged user on a read-only root file system', () => {
    expect(pod.at('securityContext').value).toEqual({
      runAsNonRoot: true,
      runAsUser: 10001,
      runAsGroup: 10001,
      fsGroup: 10001,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.at('securityContext').value).toEqual({
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.at('automountServiceAccountToken').value).toBe(false);
    expect(container.at('resources').keys().toSorted()).toEqual(['limits', 'requests']);
  });

  it('writes to its volume and /tmp only, and has its secrets as files', () => {
    const writable = container
      .at('volumeMounts')
      .items()
      .filter((mount) => mount.at('readOnly').value !== true)
      .map((mount) => mount.at('mountPath').value);
    expect(writable).toEqual(['/var/lib/rolecall', '/tmp']);
    expect(container.at('env').value).toEqual([
      { name: 'ROLECALL_CONFIG', value: '/etc/rolecall/rolecall.yaml' },
    ]);
    const volumes = pod.at('volumes').items();
    expect(volumes.map((volume) => volume.at('secret', 'secretName').value ?? null)).toEqual([
      null,
      null,
      null,
      'rolecall-daemon',
      'rolecall-accounts',
    ]);
    const mounted = container
      .at('volumeMounts')
      .items()
      .map((mount) => mount.at('name').value);
    expect(volumes.map((volume) => volume.at('name').value)).toEqual(mounted);
  });

  it('keeps only the store on its volume', () => {
    const claim = yamlOf(`${FOLDER}/base/persistentvolumeclaim.yaml`);
    expect(claim.at('spec', 'accessModes').value).toEqual(['ReadWriteOnce']);
    expect(claim.at('metadata', 'name').value).toBe(
      pod.at('volumes', 0, 'persistentVolumeClaim', 'claimName').value,
    );
  });
});

describe('several replicas', () => {
  const patches = yamlOf(`${FOLDER}/replicas/kustomization.yaml`).at('patches').items();
  const patchOf = (kind: string): Node => {
    const found = patches.find((patch) => patch.at('target', 'kind').value === kind);
    return new Node(parse(found?.at('patch').text() ?? ''));
  };
  const spec = patchOf('Deployment').at('spec');
  const replicas = spec.at('template', 'spec');

  it('are replaced one by one, on different nodes, and a drain ends one at a time', () => {
    expect(spec.at('replicas').value).toBe(3);
    expect(spec.at('strategy').value).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    });
    const labels = deployment.at('spec', 'template', 'metadata', 'labels').value;
    const spread = replicas.at('topologySpreadConstraints').items();
    expect(spread.map((each) => each.at('topologyKey').value)).toEqual([
      'kubernetes.io/hostname',
      'topology.kubernetes.io/zone',
    ]);
    for (const each of spread) expect(each.at('labelSelector', 'matchLabels').value).toEqual(labels);
    const budget = yamlOf(`${FOLDER}/replicas/poddisruptionbudget.yaml`).at('spec');
    expect(budget.value).toEqual({ maxUnavailable: 1, selector: { matchLabels: labels } });
  });

  it('share no volume, and reach the database with the address from their secret', async () => {
    expect(replicas.at('volumes', 0).value).toEqual({
      name: 'store',
      persistentVolumeClaim: null,
      emptyDir: { sizeLimit: '2Gi' },
    });
    expect(patchOf('PersistentVolumeClaim').at('$patch').value).toBe('delete');
    expect(patchOf('NetworkPolicy').at(0, 'path').value).toBe('/spec/egress/-');
    expect(patchOf('NetworkPolicy').at(0, 'value', 'ports').value).toEqual([{ protocol: 'TCP', port: 5432 }]);
    const folder = mountConfigMap(configMapOf('replicas'));
    const { service, issues, secrets } = await loadConfiguration(join(folder, 'rolecall.yaml'));
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
    const url = { file: '/run/secrets/rolecall-daemon/database-url' };
    expect(service?.store).toEqual({ postgres: { url, schema: 'rolecall' } });
    // Each pod can write there only.
    const installed = service && { ...service, file: '/etc/rolecall/rolecall.yaml' };
    expect(installed && checkoutRoot(installed)).toBe('/var/lib/rolecall/checkout');
    const mounted = replicas
      .at('volumes', 1, 'secret', 'items')
      .items()
      .map((item) => item.at('path').text());
    for (const { ref } of secrets) {
      if ('file' in ref)
        expect(mounted.map((name) => `/run/secrets/rolecall-daemon/${name}`)).toContain(ref.file);
    }
  });
});

/** Lays files out as Kubernetes mounts a ConfigMap: links through a link that is replaced. */
function mountConfigMap(files: Readonly<Record<string, string>>): string {
  const folder = makeFolder();
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, '..2026_01_01', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  symlinkSync('..2026_01_01', join(folder, '..data'));
  for (const top of new Set(Object.keys(files).map((path) => path.split('/')[0] ?? path))) {
    symlinkSync(join('..data', top), join(folder, top));
  }
  return folder;
}

/** The files of a variant's ConfigMap, by the paths at which its Deployment mounts them. */
function configMapOf(variant: string): Record<string, string> {
  const kustomization = yamlOf(`${FOLDER}/${variant}/kustomization.yaml`);
  const sources = kustomization
    .at('configMapGenerator', 0, 'files')
    .items()
    .map((item) => {
      const [key = '', file = key] = item.text().split('=');
      return [key, file] as const;
    });
  const patches = kustomization
    .at('patches')
    .items()
    .map((patch) => new Node(parse(patch.at('patch').text())));
  const items = patches
    .flatMap((patch) => patch.at('spec', 'template', 'spec', 'volumes').items())
    .flatMap((volume) => volume.at('configMap', 'items').items());
  return Object.fromEntries(
    sources.map(([key, file]) => {
      const item = items.find((each) => each.at('key').value === key);
      return [item?.at('path').text() ?? key, textOf(`${FOLDER}/${variant}/${file}`)];
    }),
  );
}

describe('the configuration', () => {
  it('of the variant without git is valid where it is mounted, and refers to mounted secrets', async () => {
    const folder = mountConfigMap(configMapOf('from-configmap'));
    const { service, accounts, issues, secrets } = await loadConfiguration(join(folder, 'rolecall.yaml'));
    // TLS, if any, ends before the pod.
    expect(issues).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('http.publicUrl') },
    ]);
    expect(accounts.map(({ name }) => name)).toEqual(['acme-eu']);
    expect(service?.store).toEqual({ file: '/var/lib/rolecall/rolecall.db' });
    expect(secrets.map(({ ref }) => ref)).toEqual(
      expect.arrayContaining([
        { file: '/run/secrets/rolecall-daemon/http-token' },
        { file: '/run/secrets/rolecall-accounts/acme-eu' },
      ]),
    );
  });

  it('of the variant with git is valid except for the accounts, which are in the repository', async () => {
    const folder = mountConfigMap(configMapOf('from-git'));
    const { service, issues } = await loadConfiguration(join(folder, 'rolecall.yaml'));
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(service?.store).toEqual({ file: '/var/lib/rolecall/rolecall.db' });
    expect(service?.source?.git).toMatchObject({
      branch: 'main',
      path: 'config',
      credentials: { file: '/run/secrets/rolecall-daemon/git-credentials' },
    });
  });

  it.each(['from-git', 'from-configmap', 'replicas'])(
    'of %s listens on all addresses, with a token',
    (variant) => {
      const http = yamlOf(`${FOLDER}/${variant}/rolecall.yaml`).at('http');
      expect(http.value).toEqual({
        listen: '0.0.0.0:8080',
        token: { file: '/run/secrets/rolecall-daemon/http-token' },
      });
    },
  );
});
