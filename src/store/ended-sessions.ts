// Keeps the sessions that were ended, until they would have expired anyway.
import type { EndedSessions } from '../core/ended-sessions.ts';
import { PERSON_PATIENCE_MS } from './busy.ts';
import type { Database } from './tables.ts';
import { toIso } from './times.ts';
import { durably } from './transactions.ts';

const PREFIX = 'ended_session:';
/** The names after all names with the prefix: the character after the colon. */
const AFTER = (prefix: string): string => `${prefix.slice(0, -1)};`;

/** A process whose clock is behind still accepts a session that has expired by the clock of another. */
const SKEW_MS = 3_600_000;
/** Of one token. Somebody who has a token can end any number of its sessions, but none of another token. */
const MAX_ENDED = 10_000;

export function endedSessions(db: Database): EndedSessions {
  return {
    async end({ holder, id, expiresMs }, nowMs) {
      const own = `${PREFIX}${holder}:`;
      const store = async (connection: Database): Promise<void> => {
        await connection
          .deleteFrom('settings')
          .where('name', '>=', PREFIX)
          .where('name', '<', AFTER(PREFIX))
          .where('value', '<', toIso(nowMs - SKEW_MS))
          .execute();
        await connection
          .insertInto('settings')
          .values({ name: own + id, value: toIso(expiresMs) })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        await connection
          .deleteFrom('settings')
          .where('name', '>=', own)
          .where('name', '<', AFTER(own))
          .where('value', '<=', (query) =>
            query
              .selectFrom('settings')
              .select('value')
              .where('name', '>=', own)
              .where('name', '<', AFTER(own))
              .orderBy('value', 'desc')
              .limit(1)
              .offset(MAX_ENDED),
          )
          .execute();
      };
      await durably(db, 'ended sessions', store, PERSON_PATIENCE_MS);
    },
    async hasEnded({ holder, id }) {
      const row = await db
        .selectFrom('settings')
        .select('name')
        .where('name', '=', `${PREFIX}${holder}:${id}`)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
