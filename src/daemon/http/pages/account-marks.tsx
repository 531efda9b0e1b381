// The marks of an account, on its page and in lists: its states, and what a plan would change.
import { ACCOUNT_STATE_TEXTS } from '../../../report/account-state-texts.ts';
import { statesOfListed } from '../../account-state.ts';
import type { AccountView } from '../../daemon-api.ts';

/** All states of the account as badges, those that need a person first, and whether its scheduled runs wait after failures. */
export function AccountStates({ account }: { readonly account: AccountView }) {
  return (
    <>
      {statesOfListed(account).map((state, index) => {
        const { label, tone } = ACCOUNT_STATE_TEXTS[state];
        return (
          <>
            {index === 0 ? '' : ' '}
            <span class={`badge ${tone ?? ''}`}>{label}</span>
          </>
        );
      })}
      {account.waitsForCommit === null && !account.isLeftOut ? null : (
        <>
          {' '}
          <span class="badge bad">does not run</span>
        </>
      )}
      {account.backoffUntil === null ? null : (
        <>
          {' '}
          <span class="badge warn">backing off</span>
        </>
      )}
    </>
  );
}

/** `+3 −2`: what a plan would create and delete now; a dash when it is not known. */
export function Drift({ drift }: { readonly drift: AccountView['drift'] }) {
  if (drift === null) return <span class="quiet">–</span>;
  if (drift.create + drift.delete === 0) return <span class="quiet">0</span>;
  return (
    <>
      {drift.create > 0 ? <span class="good">+{drift.create}</span> : null}
      {drift.create > 0 && drift.delete > 0 ? ' ' : null}
      {drift.delete > 0 ? <span class="bad">−{drift.delete}</span> : null}
    </>
  );
}
