// Keeps values of the program itself, such as the key of sessions, equal for every process that uses the store.
import type { PauseOfAll } from '../core/operator.ts';
import { sql } from 'kysely';
import { engineOf, durably } from './engine.ts';
import { toIso } from './row-values.ts';
import type { Database } from './tables.ts';

export interface StoredSettings {
  /** The stored value. Without one, stores `fresh` and returns it; of several processes, the value of the first is kept. */
  valueOr(name: string, fresh: string): Promise<string>;
  /** Stores the time. False when another process has stored one less than `everyMs` ago. */
  claimTime(name: string, everyMs: number, nowMs: number): Promise<boolean>;
}

export function storedSettings(db: Database): StoredSettings {
  return {
    async valueOr(name, fresh) {
      // A store that cannot be written may contain the value.
      const stored = await readSetting(db, name);
      if (stored !== null) return stored;
      return await durably(db, `setting ${name}`, async (connection) => {
        const row = connection.insertInto('settings').values({ name, value: fresh });
        await row.onConflict((conflict) => conflict.doNothing()).execute();
        return (await readSetting(connection, name)) ?? fresh;
      });
    },

    async claimTime(name, everyMs, nowMs) {
      const now = await engineOf(db).clockMs(db, nowMs);
      const { numAffectedRows } = await sql`
        insert into settings (name, value) values (${name}, ${toIso(now)})
        on conflict (name) do update set value = excluded.value
        where settings.value <= ${toIso(now - everyMs)} or settings.value > ${toIso(now)}`.execute(db);
      return numAffectedRows === 1n;
    },
  };
}

/** The name of the pause of all accounts, which is stored as JSON. */
export const PAUSE = 'pause';

/** The pause of all accounts; null while there is none, and after its end by the clock of the store. */
export async function readPause(db: Database, nowMs: number): Promise<PauseOfAll | null> {
  const stored = await readSetting(db, PAUSE);
  if (stored === null) return null;
  const pause = JSON.parse(stored) as PauseOfAll; // only pauseAll writes it
  if (pause.untilMs === null) return pause;
  return (await engineOf(db).clockMs(db, nowMs)) < pause.untilMs ? pause : null;
}

export async function readSetting(db: Database, name: string): Promise<string | null> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value ?? null;
}

export async function writeSetting(db: Database, name: string, value: string): Promise<void> {
  const row = db.insertInto('settings').values({ name, value });
  await row.onConflict((conflict) => conflict.column('name').doUpdateSet({ value })).execute();
}
