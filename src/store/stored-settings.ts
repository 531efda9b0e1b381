// Keeps values of the program itself, such as the key of sessions, equal for every process that uses the store.
import type { Database } from './tables.ts';
import { durably } from './transactions.ts';

export interface StoredSettings {
  /** The stored value. Without one, stores `fresh` and returns it; of several processes, the value of the first is kept. */
  valueOr(name: string, fresh: string): Promise<string>;
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
  };
}

export async function readSetting(db: Database, name: string): Promise<string | null> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value ?? null;
}

export async function writeSetting(db: Database, name: string, value: string): Promise<void> {
  const row = db.insertInto('settings').values({ name, value });
  await row.onConflict((conflict) => conflict.column('name').doUpdateSet({ value })).execute();
}
