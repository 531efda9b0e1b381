// The settings of the service, and which accounts it has: from rolecall.yaml alone, or from it and from the checkout
// that the daemon keeps (contract, section 2, `source`).
import path from 'node:path';
import type { ConfigIssue } from '../core/errors.ts';
import type { CheckoutPlace } from '../core/repository.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { LEADS_OUT } from './files-on-disk.ts';
import { type ServiceRead, readService } from './service-file.ts';

/** The service as all its files together say it. */
export interface ServiceLayers {
  readonly read: ServiceRead;
  /** What the machine's own file says, which alone decides whom to trust. */
  readonly machine: ServiceRead;
  /** What the glob of `accounts` is relative to. */
  readonly folder: string;
  /** The files that were looked at, those included that are not there, with their digests. */
  readonly digests: ReadonlyMap<string, string>;
}

/**
 * Reads the service's file (absolute). With a checkout, `accounts`, `regions`, `defaults` and `api` are those of the
 * checkout's own rolecall.yaml when it has one; the rest of that file is checked and not used. Without one in it, the
 * accounts of the service's file are looked for in the checkout. `null` is a checkout that has nothing yet.
 */
export function readServiceLayers(
  file: string,
  files: ConfigurationFiles,
  checkout: CheckoutPlace | null | undefined,
): ServiceLayers {
  const source = files.read(file);
  const digests = new Map([[file, source.digest]]);
  const bootstrap = readService(file, source);
  if (checkout === undefined) {
    return { read: bootstrap, machine: bootstrap, folder: path.dirname(file), digests };
  }
  if (checkout === null) {
    return {
      read: withoutCheckout(bootstrap, files.shown(file) ?? file),
      machine: bootstrap,
      folder: path.dirname(file),
      digests,
    };
  }
  const folder = path.join(checkout.link, checkout.path);
  const innerFile = path.join(folder, 'rolecall.yaml');
  const innerSource = files.read(innerFile);
  digests.set(innerFile, innerSource.digest);
  const isMissing = 'issue' in innerSource && innerSource.missing;
  if (isMissing) return { read: bootstrap, machine: bootstrap, folder, digests };
  const inner = withoutOutside(readService(innerFile, innerSource), files);
  return { read: layered(bootstrap, inner), machine: bootstrap, folder, digests };
}

/** The file of the repository, with what it may not say as issues. */
function withoutOutside({ settings, issues, ...inner }: ServiceRead, files: ConfigurationFiles): ServiceRead {
  const { caFilePlace, trustPlace } = inner;
  const found = [...issues];
  const caFile = settings?.api.caFile;
  const isOutside = caFile !== undefined && files.leadsOut(caFile);
  if (isOutside && caFilePlace !== undefined) found.push({ ...caFilePlace, message: LEADS_OUT });
  if (trustPlace !== undefined) {
    const message = '`trust` is not used here: it is read from the machine’s own file only; take it out';
    found.push({ ...trustPlace, message, severity: 'warning' });
  }
  return { ...inner, issues: found, ...(settings === undefined || isOutside ? {} : { settings }) };
}

function layered(bootstrap: ServiceRead, inner: ServiceRead): ServiceRead {
  const { settings, issues, secrets } = bootstrap;
  return {
    ...(settings === undefined || inner.settings === undefined
      ? {}
      : { settings: { ...settings, api: inner.settings.api } }),
    issues: [...issues, ...inner.issues],
    secrets,
    ...(inner.accounts === undefined ? {} : { accounts: inner.accounts }),
    ...(inner.regions === undefined ? {} : { regions: inner.regions }),
    defaults: inner.defaults,
  };
}

/** Unsound, so that nobody takes "not fetched yet" for "no accounts". */
function withoutCheckout(bootstrap: ServiceRead, shown: string): ServiceRead {
  const message = 'nothing has been fetched from the repository of `source.git` yet';
  const issue: ConfigIssue = { file: shown, line: 1, column: 1, message, severity: 'error' };
  return { issues: [...bootstrap.issues, issue], secrets: bootstrap.secrets, defaults: {} };
}
