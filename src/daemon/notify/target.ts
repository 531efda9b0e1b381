// Targets of notifications: their keys, which do not contain the address, and their secrets.
import { Secret } from '../../core/secret.ts';
import type { NotifySettings, SecretRef } from '../../core/settings.ts';
import { sha256 } from '../../system/digest.ts';

export type ResolveSecret = (ref: SecretRef, what: string) => Promise<Secret>;

/** The address and the signing secret. The address of a webhook is a secret itself. */
export interface Destination {
  readonly url: Secret;
  readonly secret: Secret | null;
}

/** The identity of a target; its events may change. */
export function targetKey({ format, url, secret, repository }: NotifySettings): string {
  return sha256(JSON.stringify([format, url, secret, repository]));
}

/** Whether the target receives the status of commits instead of notices. */
export function isStatusTarget({ repository }: NotifySettings): boolean {
  return repository !== undefined;
}

/** The targets by key. A target that is configured twice has the events of both. */
export function targetsByKey(settings: readonly NotifySettings[]): Map<string, NotifySettings> {
  const targets = new Map<string, NotifySettings>();
  for (const target of settings) {
    const known = targets.get(targetKey(target))?.events ?? [];
    targets.set(targetKey(target), { ...target, events: [...new Set([...target.events, ...known])] });
  }
  return targets;
}

/** Resolves the references for each attempt, so that a fixed one is used at once. Never rejects. */
export async function resolveDestination(
  { url, secret }: NotifySettings,
  resolveSecret: ResolveSecret,
): Promise<Destination | { readonly problem: string }> {
  const at =
    typeof url === 'string' ? new Secret(url) : await resolveSecret(url, 'notify url').catch(() => null);
  if (at === null) return { problem: 'url_missing' };
  if (!isWebhookUrl(at.reveal())) return { problem: 'url_invalid' };
  if (secret === undefined) return { url: at, secret: null };
  const key = await resolveSecret(secret, 'notify secret').catch(() => null);
  return key === null ? { problem: 'secret_missing' } : { url: at, secret: key };
}

/** The same check as for an address in the configuration. */
function isWebhookUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s\\]+$/iu.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
