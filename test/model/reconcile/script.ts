// A story of one account, as JSON: how the service behaves, the first content of the account, and what then happens. A
// number refers to an entry or a person modulo how many there are, so that every script can be played.
import type { FaultAction } from '../../../src/sandbox/sandbox.ts';

export interface Script {
  readonly service: ServiceTraits;
  readonly seed: Seed;
  /** Whether the file pins the account id. */
  readonly pinned: boolean;
  readonly concurrency: number;
  readonly retries: number;
  readonly steps: readonly Step[];
}

export interface ServiceTraits {
  readonly createStatus?: 200 | 201;
  readonly uniqueNames?: false | 'exact' | 'caseless';
  readonly trimNames?: boolean;
  readonly caseNames?: 'keep' | 'lower';
  readonly normaliseNames?: 'keep' | 'NFC' | 'NFD' | 'NFKC';
  readonly unknownIdStatus?: 200 | 404 | 410 | 422 | 500;
  readonly listDelayMs?: number;
  readonly timestampsWithZone?: boolean;
  readonly omitOptionalFields?: boolean;
  readonly listOrder?: 'insertion' | 'shuffled';
}

export interface Seed {
  readonly skills: readonly string[];
  readonly roles: readonly string[];
  readonly people: readonly { readonly skills: readonly number[]; readonly role: number | null }[];
}

export interface WishedEntry {
  readonly name: string;
  readonly formerly?: readonly string[];
}

/** The content of the account file. A kind that is absent is not managed. */
export interface Wish {
  readonly skills?: readonly WishedEntry[];
  readonly roles?: readonly WishedEntry[];
  /** The lines of `allowedDeletes`. */
  readonly allowed: readonly { readonly kind: 'skill' | 'role'; readonly name: string }[];
  readonly policy: {
    readonly delete: 'never' | 'unused' | 'always';
    readonly ownership: 'all' | 'managed';
    readonly maxDeletes: number;
    readonly maxDeletePercent: number;
    readonly protect: readonly string[];
    readonly duplicates: 'report' | 'remove-unused';
    readonly frozen: boolean;
    /** Allowed if omitted, as in stories that are older than this rule. */
    readonly allowNoPeople?: boolean;
    /** 0 if omitted. */
    readonly unusedForMs?: number;
  };
}

/** A change by somebody else, in the pages of the service or with another program. */
export type Edit =
  | { readonly edit: 'add'; readonly kind: 'skill' | 'role'; readonly name: string }
  | { readonly edit: 'remove'; readonly kind: 'skill' | 'role'; readonly entry: number }
  | {
      readonly edit: 'rename';
      readonly kind: 'skill' | 'role';
      readonly entry: number;
      readonly name: string;
    }
  | {
      readonly edit: 'assign' | 'unassign';
      readonly kind: 'skill' | 'role';
      readonly person: number;
      readonly entry: number;
    }
  | { readonly edit: 'hire'; readonly skills: readonly number[] }
  | { readonly edit: 'leave'; readonly person: number };

/** A fault of the requests of one method: after `skip` of them, `times` times in a row. */
export interface Trouble {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly of?: 'skill' | 'role' | 'resource';
  readonly skip: number;
  readonly times: number;
  readonly do: FaultAction;
}

export interface RunStep {
  readonly step: 'run';
  readonly mode: 'plan' | 'approve' | 'apply';
  readonly troubles: readonly Trouble[];
  /** Edits right before the service reads the nth request of the run. */
  readonly meanwhile: readonly { readonly at: number; readonly edit: Edit }[];
  /** The program receives a stop signal at the nth request. */
  readonly stopAt: number | null;
  /** A second process tries to apply the same account at the nth request. */
  readonly rivalAt: number | null;
  readonly acceptShrink: boolean;
  /** Accepted if omitted, as in stories that are older than this rule. */
  readonly acceptNoEvidence?: boolean;
}

export type Step =
  | { readonly step: 'configure'; readonly wish: Wish }
  | RunStep
  | { readonly step: 'approve' }
  | { readonly step: 'edit'; readonly edit: Edit }
  | { readonly step: 'wait'; readonly ms: number };

/** A run in which nothing goes wrong. */
export const PLAIN_RUN: RunStep = {
  step: 'run',
  mode: 'apply',
  troubles: [],
  meanwhile: [],
  stopAt: null,
  rivalAt: null,
  acceptShrink: false,
};
