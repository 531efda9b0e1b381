// The digest by which two configurations are known to ask for the same (contract, sections 3 and 6).
import { createHash } from 'node:crypto';
import type { DesiredCatalog, DesiredEntry, Policy } from '../core/catalog.ts';
import { KINDS } from '../core/catalog.ts';

export interface DigestedSettings {
  readonly baseUrl: string;
  readonly accountId?: string;
  readonly policy: Policy;
  readonly desired: DesiredCatalog;
}

/** `sha256:…` over what determines a plan; neither the order of keys nor that of a list changes it. */
export function configDigest({ baseUrl, accountId, policy, desired }: DigestedSettings): string {
  const kinds = KINDS.map((kind) => [kind, desired[kind]?.map(entryText)]);
  const subject = {
    baseUrl,
    accountId,
    policy,
    desired: { ...Object.fromEntries(kinds), approvedDeletes: desired.approvedDeletes },
  };
  return `sha256:${createHash('sha256').update(canonicalJson(subject)).digest('hex')}`;
}

/** An entry as one text: made for ten thousand of them, where going through objects is slow. */
function entryText({ name, formerly }: DesiredEntry): string {
  return JSON.stringify([name, ...formerly.toSorted()]);
}

/** JSON with keys and lists sorted and undefined left out; lists of the configuration are sets. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).toSorted().join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.toSorted().join(',')}}`;
}
