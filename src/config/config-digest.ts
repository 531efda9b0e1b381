// The digest that identifies equal configurations of an account.
import { type DesiredCatalog, type DesiredEntry, type Policy, KINDS } from '../core/catalog.ts';
import { sha256 } from '../platform/digest.ts';

/** The settings that determine a plan. */
export interface DigestedSettings {
  readonly baseUrl: string;
  readonly accountId?: string;
  readonly policy: Policy;
  readonly desired: DesiredCatalog;
}

/** `sha256:…` over the settings that determine a plan; the order of keys and of lists does not change it. */
export function configDigest({ baseUrl, accountId, policy, desired }: DigestedSettings): string {
  const kinds = KINDS.map((kind) => [kind, desired[kind]?.map(entryText)]);
  const subject = {
    baseUrl,
    accountId,
    policy,
    desired: { ...Object.fromEntries(kinds), approvedDeletes: desired.approvedDeletes },
  };
  return `sha256:${sha256(canonicalJson(subject))}`;
}

/** An entry as one text. Faster than `canonicalJson`, since an account may have ten thousand entries. */
function entryText({ name, formerly }: DesiredEntry): string {
  return JSON.stringify([name, ...formerly.toSorted()]);
}

/** JSON with sorted keys and lists, without undefined members; lists of the configuration are sets. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).toSorted().join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.toSorted().join(',')}}`;
}
