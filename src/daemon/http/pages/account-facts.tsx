// The settings, the times and the states of an account, since when, by whom and why it is paused, and what a plan would change.
import { ACCOUNT_STATE_TEXTS } from '../../../report/formatting.ts';
import { type Fact, code } from '../../../report/document.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { Facts, Instant } from '../../../report/html.tsx';
import { statesOfListed } from '../../account-state.ts';
import type { AccountView } from '../../daemon-api.ts';

export function AccountFacts({ account }: { readonly account: AccountView }) {
  return (
    <Facts facts={settingsOf(account)}>
      <Times account={account} />
    </Facts>
  );
}

export function PauseNotice({ pause }: Pick<AccountView, 'pause'>) {
  if (pause === null) return null;
  const { since, by, reason } = pause;
  return (
    <div class="notice warn">
      <p>
        <strong>Scheduled runs are paused</strong> since <Instant at={since} /> by {visible(by)}.
      </p>
      {reason === null ? null : <p>{visible(reason)}</p>}
    </div>
  );
}

function Times({ account }: { readonly account: AccountView }) {
  const times: readonly (readonly [string, string | null])[] = [
    ['Next run', account.nextRunAt],
    ['Last success', account.lastSuccessAt],
    ['Approval expires', account.approved?.expiresAt ?? null],
  ];
  return (
    <>
      {times.map(([label, at]) =>
        at === null ? null : (
          <>
            <dt>{label}</dt>
            <dd>
              <Instant at={at} />
            </dd>
          </>
        ),
      )}
    </>
  );
}

function settingsOf(account: AccountView): Fact[] {
  const { mode, schedule, timezone, region, remoteAccountId, consecutiveFailures, approved } = account;
  const facts: (Fact | false)[] = [
    mode !== null && { label: 'Mode', line: [mode] },
    schedule !== null && {
      label: 'Schedule',
      line: [code(schedule), ...(timezone === null ? [] : [` ${timezone}`])],
    },
    region !== null && { label: 'Region', line: [region] },
    remoteAccountId !== null && { label: 'Account id', line: [code(remoteAccountId)] },
    consecutiveFailures > 0 && { label: 'Failures in a row', line: [String(consecutiveFailures)] },
    approved !== null && {
      label: 'Approved plan',
      line: [code(approved.digest), `, by ${approved.by}`],
    },
  ];
  return facts.filter((fact) => fact !== false);
}

/** All states of the account as badges, those that need a person first. */
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
