// The response of a daemon with one plan, as text.

/** A plan that does nothing, with these parts instead of its own, in a JSON array. */
export function planText(parts: object): string {
  const summary = { create: 0, delete: 0, hold: 0, keep: 0, leave: 0 };
  const digests = { digest: 'sha256:', configDigest: 'sha256:', observedDigest: 'sha256:' };
  const lists = { operations: [], held: [], leftAlone: [], warnings: [] };
  const head = {
    schemaVersion: 1,
    account: 'acme',
    remoteAccountId: null,
    createdAt: '',
    configCommit: null,
  };
  return JSON.stringify([{ ...head, ...digests, status: 'planned', summary, ...lists, ...parts }]);
}
