// What reports and pages call the states of an account.
import type { AccountStateName } from '../core/account-states.ts';
import type { Tone } from './document.ts';

interface StateText {
  readonly label: string;
  /** null where a state is neither good nor bad. */
  readonly tone: Extract<Tone, 'good' | 'warn' | 'bad'> | null;
}

export const ACCOUNT_STATE_TEXTS: Readonly<Record<AccountStateName, StateText>> = {
  service_invalid: { label: 'invalid service file', tone: 'bad' },
  invalid: { label: 'invalid file', tone: 'bad' },
  failed: { label: 'failed', tone: 'bad' },
  blocked: { label: 'blocked', tone: 'bad' },
  partial: { label: 'partial', tone: 'bad' },
  interrupted: { label: 'interrupted', tone: 'bad' },
  waiting: { label: 'waiting for approval', tone: 'warn' },
  drift: { label: 'drift', tone: 'warn' },
  held: { label: 'held', tone: 'warn' },
  paused: { label: 'paused', tone: 'warn' },
  approved: { label: 'approved', tone: 'good' },
  running: { label: 'running', tone: null },
  queued: { label: 'queued', tone: null },
  new: { label: 'not run yet', tone: null },
  unknown: { label: 'drift unknown', tone: null },
  converged: { label: 'converged', tone: 'good' },
  removed: { label: 'removed', tone: null },
};
