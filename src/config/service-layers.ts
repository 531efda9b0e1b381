// The settings of the service and its list of accounts: from rolecall.yaml alone, or, with `source.git`, from it and
// from the daemon's checkout.
import path from 'node:path';
import type { ConfigIssue } from '../core/errors.ts';
import type { CheckoutPlace } from '../core/ports/repository.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { type ServiceRead, readService } from './service-file.ts';

/** The settings of the service, merged from all its files. */
export interface ServiceLayers {
  readonly read: ServiceRead;
  /** The service file of the machine, which alone decides what is trusted. */
  readonly machine: ServiceRead;
  /** The folder that the glob of `accounts` is relative to. */
  readonly folder: string;
  /** The files that were read, and those that do not exist, with their digests. */
  readonly digests: ReadonlyMap<string, string>;
}

/**
 * Reads the service file (absolute). With a checkout, `accounts`, `regions` and `defaults` come from the
 * checkout's own rolecall.yaml if it has one; the rest of that file is checked and not used. `api` decides whom the
 * machine trusts with tokens, and how much work an account may cause, so a commit cannot change it. If it has none, the glob
 * `accounts` of the service file is used in the checkout. `null` is a checkout before its first fetch.
 */
export function readServiceLayers(
  file: string,
  files: ConfigurationFiles,
  checkout: CheckoutPlace | null | undefined,
): ServiceLayers {
  const source = files.read(file);
  const digests = new Map([[file, source.digest]]);
  const machine = readService(file, source);
  const own = { machine, folder: path.dirname(file), digests };
  if (checkout === undefined) return { ...own, read: machine };
  if (checkout === null) return { ...own, read: withoutCheckout(machine, files.shown(file) ?? file) };
  const folder = path.join(checkout.link, checkout.path);
  const innerFile = path.join(folder, 'rolecall.yaml');
  const innerSource = files.read(innerFile);
  digests.set(innerFile, innerSource.digest);
  const isMissing = 'issue' in innerSource && innerSource.missing;
  const read = isMissing ? machine : layered(machine, readService(innerFile, innerSource));
  return { machine, folder, digests, read };
}

/** The settings of the machine with the accounts, regions and defaults of the repository's service file. */
function layered(machine: ServiceRead, { settings, ...inner }: ServiceRead): ServiceRead {
  const warnings = inner.machinePlaces.map(({ key, place }): ConfigIssue => {
    const message = `\`${key}\` is not used here: it is read only from the service file of the machine; remove it`;
    return { ...place, message, severity: 'warning' };
  });
  return {
    ...inner,
    ...(settings === undefined || machine.settings === undefined ? {} : { settings: machine.settings }),
    issues: [...machine.issues, ...inner.issues, ...warnings],
    secrets: machine.secrets,
    machinePlaces: machine.machinePlaces,
  };
}

/** No settings, so that "not fetched yet" is not mistaken for "no accounts". */
function withoutCheckout({ issues, secrets }: ServiceRead, shown: string): ServiceRead {
  const message =
    'the daemon has not fetched the repository of `source.git` yet; check its log if this does not change';
  const issue: ConfigIssue = { file: shown, line: 1, column: 1, message, severity: 'error' };
  return { issues: [...issues, issue], secrets, machinePlaces: [], defaults: {} };
}
