// Before the other creates: the answer to a create confirms the account when no listed object carries an account id.
import type { Entry } from '../core/catalog.ts';
import { type ApplyContext, type NumberedOperation, skip, UNIDENTIFIED } from './apply-context.ts';

/**
 * In an account that is not confirmed, sends creates one by one with `createAlone` until `isAnswered` with an entry. A
 * create whose answer was lost stops the rest, since its account is unknown. Returns the remaining creates.
 */
export async function confirmAccount(
  context: ApplyContext,
  creates: readonly NumberedOperation[],
  createAlone: (operation: NumberedOperation) => Promise<void>,
  isAnswered: () => boolean,
): Promise<readonly NumberedOperation[]> {
  if (context.identified) return creates;
  for (const [index, operation] of creates.entries()) {
    await createAlone(operation);
    const left = creates.slice(index + 1);
    if (isAnswered() || context.identified) return left;
    const status = context.statuses.get(operation.seq)?.status;
    // A create that was refused, or held before it was sent, reveals no account id: try the next one.
    if (status !== 'failed' && status !== 'held') {
      skip(context, left, context.halt?.message ?? UNIDENTIFIED);
      return [];
    }
  }
  return [];
}

/** Whether the answer belongs to the intended account, or carries no account id. Halts the run otherwise. */
export async function checkOwner(context: ApplyContext, { accountId }: Entry): Promise<boolean> {
  if (accountId === undefined) return true;
  if (context.identified && accountId === context.remoteAccountId) return true;
  const wrong = await context.claimAccountId(accountId);
  if (wrong === null) {
    context.remoteAccountId = accountId;
    context.identified = true;
  } else context.halt ??= { code: 'identity_mismatch', message: wrong };
  return wrong === null;
}
