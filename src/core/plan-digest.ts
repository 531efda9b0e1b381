// The digest that identifies a plan: approvals and saved plans are valid for exactly these operations.
import type { Operation } from './plan.ts';

type Digested = Pick<Operation, 'action' | 'kind' | 'name' | 'remoteId' | 'usedBy'>;

/** `sha256:…` over the remote account id and the operations with their `usedBy`; `sha256` returns lower-case hexadecimal. */
export function planDigest(
  remoteAccountId: string | null,
  operations: readonly Digested[],
  sha256: (text: string) => string,
): string {
  const rows = operations.map(({ action, kind, name, remoteId, usedBy }) => [
    action,
    kind,
    name,
    remoteId ?? null,
    usedBy ?? null,
  ]);
  return `sha256:${sha256(JSON.stringify([remoteAccountId, rows]))}`;
}
