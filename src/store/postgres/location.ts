// Where a store in PostgreSQL is, and how it is named in messages.
import type { OpenLocation } from '../../core/settings.ts';
import { shownDatabase } from '../../system/postgres-address.ts';

export type PostgresLocation = Exclude<OpenLocation, { readonly file: string }>;

/** The name of the store in messages, without user and password. */
export function nameOf({ url, schema }: Pick<PostgresLocation, 'url' | 'schema'>): string {
  return `PostgreSQL ${shownDatabase(url)}, schema ${schema}`;
}
