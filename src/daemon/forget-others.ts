// Drops what is remembered of accounts that are no longer configured.

/** Deletes the entries of all accounts that are not in `configured`. */
export function forgetOthers(known: Map<string, unknown>, configured: ReadonlySet<string>): void {
  for (const name of known.keys()) if (!configured.has(name)) known.delete(name);
}
