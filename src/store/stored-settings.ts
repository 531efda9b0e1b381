// Keeps values of the program itself, such as the key of sessions, equal for every process that uses the store.
import type { Database } from './tables.ts';
import { durably } from './transactions.ts';

export interface StoredSettings {
  /** The stored value. Without one, stores `fresh` and returns it; of several processes, the value of the first is kept. */
  valueOr(name: string, fresh: string): Promise<string>;
}

export function storedSettings(db: Database): StoredSettings {
  const read = async (connection: Database, name: string): Promise<string | undefined> => {
    const row = await connection
      .selectFrom('settings')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirst();
    return row?.value;
  };
  return {
    async valueOr(name, fresh) {
      // A store that cannot be written may contain the value.
      const stored = await read(db, name);
      if (stored !== undefined) return stored;
      const store = async (connection: Database): Promise<string> => {
        const values = { name, value: fresh };
        await connection
          .insertInto('settings')
          .values(values)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        return (await read(connection, name)) ?? fresh;
      };
      return await durably(db, `setting ${name}`, store);
    },
  };
}
