// A script as JSON: how a daemon starts, and what then happens to it, to its files and to the service. Every step is
// allowed at any place; one that makes no sense there does nothing, so that scripts can shrink freely.

export const ACCOUNTS = ['a', 'b', 'c', 'd'] as const;
export type AccountName = (typeof ACCOUNTS)[number];

export const NAMES = ['Ada', 'Basic', 'Cobol', 'Dylan'] as const;

/** The content of an account file. */
export interface AccountPart {
  readonly mode: 'plan' | 'approve' | 'apply';
  readonly schedule: string;
  readonly timezone: string;
  readonly jitterMs: number;
  /** Accounts of one lane have one base address. */
  readonly lane: 0 | 1;
  readonly skills: readonly string[];
  /** Whether entries that people have can be deleted. */
  readonly delete: 'unused' | 'always';
}

export interface ServicePart {
  readonly maxRuns: number;
  readonly runOnStart: boolean;
  readonly graceMs: number;
}

/** How the service answers an account. `creates`: it refuses creates and accepts everything else. */
export interface Mood {
  readonly latencyMs: number;
  readonly fault: 'none' | 'down' | 'refused' | 'creates' | 'throttled';
  readonly retryAfterMs: number;
}

export type Word = 'approve' | 'pause' | 'resume' | 'sync';

export type Step =
  | { readonly type: 'pass'; readonly ms: number }
  /** To a moment near the account's next tick. */
  | { readonly type: 'toTick'; readonly account: AccountName; readonly offMs: number }
  | { readonly type: 'setClock'; readonly byMs: number }
  | { readonly type: 'edit'; readonly account: AccountName; readonly to: Partial<AccountPart> }
  | { readonly type: 'break'; readonly account: AccountName | null }
  | { readonly type: 'mend'; readonly account: AccountName | null }
  | { readonly type: 'remove'; readonly account: AccountName }
  | { readonly type: 'rename'; readonly account: AccountName; readonly to: AccountName }
  | { readonly type: 'service'; readonly to: Partial<ServicePart> }
  | { readonly type: 'reload' }
  | { readonly type: 'mood'; readonly account: AccountName; readonly mood: Mood }
  /** Somebody changes the account in the service. */
  | {
      readonly type: 'hand';
      readonly account: AccountName;
      readonly name: string;
      readonly does: 'add' | 'remove' | 'give' | 'take';
    }
  | {
      readonly type: 'word';
      readonly account: AccountName;
      readonly word: Word;
      /** Through the daemon, or through the store like another process. */
      readonly by: 'daemon' | 'desk';
      /** Which plan an approval names: the pending one, any pending one without its digest, or another one. */
      readonly digest: 'pending' | 'any' | 'other';
    }
  /** Another process applies the account's file. */
  | { readonly type: 'foreignApply'; readonly account: AccountName }
  /** Another process holds the account's lock. */
  | { readonly type: 'foreignLock'; readonly account: AccountName; readonly ms: number }
  /** Another program keeps the store locked. */
  | { readonly type: 'lockStore'; readonly ms: number }
  | { readonly type: 'receiver'; readonly up: boolean }
  | { readonly type: 'stop'; readonly daemon: 0 | 1 }
  | { readonly type: 'start'; readonly daemon: 0 | 1 };

export interface Script {
  /** UTC ISO 8601. */
  readonly startAt: string;
  /** The seed of all random numbers. */
  readonly seed: number;
  readonly service: ServicePart;
  readonly accounts: Readonly<Partial<Record<AccountName, AccountPart>>>;
  readonly steps: readonly Step[];
}
