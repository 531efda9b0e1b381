// A target of notifications: by what it is known without its address being kept, and what its references resolve to.
import { createHash } from 'node:crypto';
import { Secret } from '../../core/secret.ts';
import type { NotifySettings, SecretRef } from '../../core/settings.ts';

export type ResolveSecret = (ref: SecretRef, what: string) => Promise<Secret>;

/** Where a notice goes and what signs it; the address of a webhook is a secret itself. */
export interface Destination {
  readonly url: Secret;
  readonly secret: Secret | null;
}

/** A digest over what makes a target this one: which events it hears, and how often, may change. */
export function targetKey({ format, url, secret }: NotifySettings): string {
  const identity = [
    format,
    typeof url === 'string' ? url : refKey(url),
    secret === undefined ? null : refKey(secret),
  ];
  return sha256(JSON.stringify(identity));
}

function refKey(ref: SecretRef): readonly string[] {
  return 'env' in ref ? ['env', ref.env] : ['file', ref.file];
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The targets by key. One that stands there twice hears what either asks for, as often as the more eager one. */
export function targetsByKey(settings: readonly NotifySettings[]): Map<string, NotifySettings> {
  const targets = new Map<string, NotifySettings>();
  for (const target of settings) {
    const key = targetKey(target);
    const other = targets.get(key);
    targets.set(key, other === undefined ? target : merge(target, other));
  }
  return targets;
}

function merge(target: NotifySettings, other: NotifySettings): NotifySettings {
  return {
    ...target,
    events: [...new Set([...target.events, ...other.events])],
    remindEveryMs: Math.min(target.remindEveryMs, other.remindEveryMs),
  };
}

/** Looks the references up, anew for each attempt, so that a mended one counts at once. Never rejects. */
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

/** As the configuration checks an address that stands in it. */
function isWebhookUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s\\]+$/iu.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
