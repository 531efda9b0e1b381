// The marks of an account: what needs attention or differs from normal operation.
import type { AccountView } from '../../daemon-api.ts';

interface Mark {
  readonly label: string;
  readonly tone: 'good' | 'warn' | 'bad' | '';
}

function marksOf(account: AccountView): Mark[] {
  const marks: (Mark | false)[] = [
    !account.valid && { label: 'invalid file', tone: 'bad' },
    waitsForApproval(account) && { label: 'waits for approval', tone: 'warn' },
    account.approved !== null && { label: 'approved', tone: 'good' },
    account.pause !== null && { label: 'paused', tone: 'warn' },
    account.backoffUntil !== null && { label: 'backing off', tone: 'warn' },
    account.activity !== 'idle' && { label: account.activity, tone: '' },
  ];
  return marks.filter((mark) => mark !== false);
}

export function AccountMarks({ account }: { readonly account: AccountView }) {
  return (
    <>
      {marksOf(account).map(({ label, tone }, index) => (
        <>
          {index === 0 ? '' : ' '}
          <span class={`badge ${tone}`}>{label}</span>
        </>
      ))}
    </>
  );
}

/** Whether a plan is pending and not approved. */
export function waitsForApproval({ pending, approved }: AccountView): boolean {
  return pending !== null && approved?.digest !== pending.digest;
}

/** Whether an operator must act: the file is invalid, runs fail, or a plan waits for approval. */
export function needsAttention(account: AccountView): boolean {
  const { valid, consecutiveFailures, lastRun } = account;
  const isBad = lastRun !== null && ['failed', 'partial', 'blocked', 'interrupted'].includes(lastRun.status);
  return !valid || waitsForApproval(account) || consecutiveFailures > 0 || isBad;
}

/** `+3 −2`: what a plan would create and delete now; a dash when it is not known. */
export function Drift({ drift }: { readonly drift: AccountView['drift'] }) {
  if (drift === undefined) return <span class="quiet">–</span>;
  if (drift.create + drift.delete === 0) return <span class="quiet">0</span>;
  return (
    <>
      {drift.create > 0 ? <span class="good">+{drift.create}</span> : null}
      {drift.create > 0 && drift.delete > 0 ? ' ' : null}
      {drift.delete > 0 ? <span class="bad">−{drift.delete}</span> : null}
    </>
  );
}
