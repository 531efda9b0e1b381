// A button for one action of the operator on one account.
import { MAX_REASON, type OperatorAction } from '../../../core/operator.ts';
import { accountPath } from '../account-path.ts';

interface ActionButtonProps {
  readonly account: string;
  readonly action: OperatorAction;
  readonly label: string;
  /** For `approve`: the plan that the page shows. */
  readonly digest?: string;
  /** Whether it is the most important button of the page. */
  readonly main?: boolean;
}

/** A form that posts, since following a link must not change anything. */
export function ActionButton({ account, action, label, digest, main = false }: ActionButtonProps) {
  return (
    <form method="post" action={`${accountPath(account)}/${action}`}>
      {digest === undefined ? null : <input type="hidden" name="digest" value={digest} />}
      <button type="submit" class={main ? 'main' : ''}>
        {label}
      </button>
      {action === 'pause' ? (
        <label>
          Reason for the pause{' '}
          <input type="text" name="reason" maxlength={MAX_REASON} placeholder="optional" />
        </label>
      ) : null}
    </form>
  );
}
