// Where a store in PostgreSQL is, and how it is named in messages.

export interface PostgresLocation {
  /** A connection URL; may contain a password. */
  readonly url: string;
  readonly schema: string;
  /** How many connections one process opens at most. */
  readonly pool: number;
  /** How long the lock of an account is valid after its last renewal. */
  readonly leaseMs: number;
}

/** The name of the store in messages, without user and password. */
export function nameOf({ url, schema }: PostgresLocation): string {
  try {
    const { host, pathname, searchParams } = new URL(url);
    const server = host === '' ? (searchParams.get('host') ?? 'localhost') : host;
    return `PostgreSQL ${server}${pathname}, schema ${schema}`;
  } catch {
    return `PostgreSQL, schema ${schema}`;
  }
}
