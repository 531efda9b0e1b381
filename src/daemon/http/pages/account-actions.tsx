// The buttons of an account: run now, pause with a reason, resume.
import { MAX_REASON } from '../../../core/operator.ts';
import type { AccountView } from '../../daemon-api.ts';
import { ActionButton } from './action-button.tsx';

export function AccountActions({ account: { name, pause } }: { readonly account: AccountView }) {
  return (
    <div class="actions">
      <ActionButton account={name} action="sync" label="Run now" />
      {pause === null ? (
        <form class="pause" method="post" action={`/accounts/${name}/pause`}>
          <label for="reason">Reason</label>
          <input id="reason" name="reason" maxlength={MAX_REASON} autocomplete="off" />
          <button type="submit">Pause scheduled runs</button>
        </form>
      ) : (
        <ActionButton account={name} action="resume" label="Resume scheduled runs" />
      )}
    </div>
  );
}
