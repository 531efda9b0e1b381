// Accounts that are neither configured nor stored. A removed account keeps its history, so lists accept any name.
import { showMessage } from './console.ts';

/** Warns when nothing is stored of an account that is not configured either: its name may be mistyped. */
export function warnIfUnknown(
  account: string,
  configured: readonly { readonly name: string }[],
  what: 'run' | 'snapshot',
): void {
  if (configured.some(({ name }) => name === account)) return;
  showMessage(
    `warning: no account ${JSON.stringify(account)} is configured, and no ${what} of such an account is stored`,
  );
}
