// The key that signs the cookies of sessions: from the configuration, else one that the store keeps.
import { randomBytes } from 'node:crypto';
import { SecretError, StoreError } from '../../core/errors.ts';
import { Secret } from '../../core/secret.ts';
import type { SecretRef, ServiceSettings } from '../../core/settings.ts';
import type { StoredSettings } from '../../core/stored-settings.ts';
import type { Log } from '../log.ts';

/** A shorter key can be guessed by trying. */
const MIN_KEY_LENGTH = 32;

/** The configured key; null when none is configured. Throws SecretError for one that is missing or too short. */
export async function configuredSessionKey(
  { http }: Pick<ServiceSettings, 'http'>,
  resolveSecret: (ref: SecretRef, what: string) => Promise<Secret>,
): Promise<Secret | null> {
  if (http.sessionKey === undefined) return null;
  const key = await resolveSecret(http.sessionKey, 'http.sessionKey');
  if (key.reveal().length < MIN_KEY_LENGTH) {
    throw new SecretError(
      `http.sessionKey has fewer than ${MIN_KEY_LENGTH} characters and can be guessed; use a longer one, such as the output of \`openssl rand -hex 32\``,
    );
  }
  return key;
}

/**
 * The key in the store, which is made once. Where a store of one process cannot keep it, sessions end with that process.
 * With `isShared`, it throws StoreError instead: a replica with a key of its own would refuse the sessions of the others.
 */
export async function storedSessionKey(
  settings: StoredSettings,
  isShared: boolean,
  log: Pick<Log, 'warn'>,
): Promise<Secret> {
  const fresh = randomBytes(32).toString('base64url');
  try {
    return new Secret(await settings.valueOr('session_key', fresh));
  } catch (error) {
    if (isShared || !(error instanceof StoreError)) throw error;
    log.warn(
      { event: 'session_key_not_stored', error: error.message },
      'the store cannot keep the key of sessions, so everybody has to sign in again after a restart',
    );
    return new Secret(fresh);
  }
}
