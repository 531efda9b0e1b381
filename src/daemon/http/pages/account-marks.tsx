// The marks of an account: its states, and what needs attention or differs from normal operation.
import { type AccountState, type AccountStates, statesOf } from '../../account-state.ts';
import type { AccountView } from '../../daemon-api.ts';

type Tone = 'good' | 'warn' | 'bad' | '';

/** What pages call each state. */
export const STATE_TEXTS: Readonly<Record<AccountState, { readonly label: string; readonly tone: Tone }>> = {
  invalid: { label: 'invalid', tone: 'bad' },
  failed: { label: 'failed', tone: 'bad' },
  blocked: { label: 'blocked', tone: 'bad' },
  partial: { label: 'partial', tone: 'bad' },
  interrupted: { label: 'interrupted', tone: 'bad' },
  waiting: { label: 'waiting for approval', tone: 'warn' },
  drift: { label: 'drift', tone: 'warn' },
  held: { label: 'held', tone: 'warn' },
  paused: { label: 'paused', tone: 'warn' },
  approved: { label: 'approved', tone: 'good' },
  running: { label: 'running', tone: '' },
  queued: { label: 'queued', tone: '' },
  new: { label: 'not run yet', tone: '' },
  unknown: { label: 'drift unknown', tone: '' },
  converged: { label: 'converged', tone: 'good' },
};

/** The states that the status of the last run does not show. */
const MARKS: ReadonlySet<AccountState> = new Set([
  'invalid',
  'waiting',
  'paused',
  'approved',
  'running',
  'queued',
]);

/** The marks beside the status of the last run. */
export function AccountMarks({ account }: { readonly account: AccountView }) {
  const states = statesOf(account).filter((state) => MARKS.has(state));
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
export function StateBadges({ states }: { readonly states: AccountStates | readonly AccountState[] }) {
  return (
    <>
      {states.map((state, index) => (
        <>
          {index === 0 ? '' : ' '}
          <span class={`badge ${STATE_TEXTS[state].tone}`}>{STATE_TEXTS[state].label}</span>
        </>
      ))}
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
