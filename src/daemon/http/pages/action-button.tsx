// A button that says one word of the operator about one account.
import type { OperatorAction } from '../actions.ts';

interface ActionButtonProps {
  readonly account: string;
  readonly action: OperatorAction;
  readonly label: string;
  /** The plan that was looked at, for `approve`. */
  readonly digest?: string;
  /** Whether it is what the page is there for. */
  readonly main?: boolean;
}

/** A form of its own: it posts, since nothing is ever changed by following a link. */
export function ActionButton({ account, action, label, digest, main = false }: ActionButtonProps) {
  return (
    <form method="post" action={`/accounts/${account}/${action}`}>
      {digest === undefined ? null : <input type="hidden" name="digest" value={digest} />}
      <button type="submit" class={main ? 'main' : ''}>
        {label}
      </button>
    </form>
  );
}
