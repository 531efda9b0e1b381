// What is out of the ordinary about an account, in a word each.
import type { AccountView } from '../../daemon-api.ts';

interface Mark {
  readonly word: string;
  readonly tone: 'good' | 'warn' | 'bad' | '';
}

function marksOf(account: AccountView): Mark[] {
  const marks: (Mark | false)[] = [
    !account.valid && { word: 'invalid file', tone: 'bad' },
    waitsForApproval(account) && { word: 'waits for approval', tone: 'warn' },
    account.approved !== null && { word: 'approved', tone: 'good' },
    account.paused && { word: 'paused', tone: 'warn' },
    account.backoffUntil !== null && { word: 'held back', tone: 'warn' },
    account.activity !== 'idle' && { word: account.activity, tone: '' },
  ];
  return marks.filter((mark) => mark !== false);
}

export function AccountMarks({ account }: { readonly account: AccountView }) {
  return (
    <>
      {marksOf(account).map(({ word, tone }, index) => (
        <>
          {index === 0 ? '' : ' '}
          <span class={`badge ${tone}`}>{word}</span>
        </>
      ))}
    </>
  );
}

/** Whether a plan waits and nobody has approved it. */
export function waitsForApproval({ pending, approved }: AccountView): boolean {
  return pending !== null && approved?.digest !== pending.digest;
}

/** Whether a person should look: something failed or is broken, or waits for approval. */
export function needsAttention(account: AccountView): boolean {
  const { valid, consecutiveFailures, lastRun } = account;
  const isBad = lastRun !== null && ['failed', 'partial', 'blocked', 'interrupted'].includes(lastRun.status);
  return !valid || waitsForApproval(account) || consecutiveFailures > 0 || isBad;
}

/** `+3 −2`, what a plan would do now; a dash when nobody knows. */
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
