// The marks of an account: its states, and what needs attention or differs from normal operation.
import type { AccountStateName } from '../../../core/account-states.ts';
import { ACCOUNT_STATE_TEXTS } from '../../../report/account-state-texts.ts';
import { statesOfListed } from '../../account-state.ts';
import type { AccountView } from '../../daemon-api.ts';

/** The states that the status of the last run does not show. */
const MARKS: ReadonlySet<AccountStateName> = new Set([
  'new',
  'invalid',
  'waiting',
  'paused',
  'approved',
  'running',
  'queued',
]);

/** The marks beside the status of the last run. */
export function AccountMarks({ account }: { readonly account: AccountView }) {
  const states = statesOfListed(account).filter((state) => MARKS.has(state));
  // A run in progress is its own status.
  const shown = account.lastRun?.status === 'running' ? states.filter((it) => it !== 'running') : states;
  return (
    <>
      <StateBadges states={shown} />
      {account.backoffUntil === null ? null : (
        <>
          {shown.length === 0 ? '' : ' '}
          <span class="badge warn">backing off</span>
        </>
      )}
    </>
  );
}

/** The states as badges. */
export function StateBadges({ states }: { readonly states: readonly AccountStateName[] }) {
  return (
    <>
      {states.map((state, index) => {
        const { label, tone } = ACCOUNT_STATE_TEXTS[state];
        return (
          <>
            {index === 0 ? '' : ' '}
            <span class={`badge ${tone ?? ''}`}>{label}</span>
          </>
        );
      })}
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
