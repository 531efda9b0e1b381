// The key that signs the cookies of sessions, which the store keeps.
import { randomBytes } from 'node:crypto';
import { StoreError } from '../../core/errors.ts';
import { Secret } from '../../core/secret.ts';
import type { StoredSettings } from '../../core/stored-settings.ts';
import type { Log } from '../log.ts';

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
