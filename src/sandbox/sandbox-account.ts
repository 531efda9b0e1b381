// How an account of the sandbox is reached.

import type { AccountIdentity } from './model.ts';

/** An account with its token, and the base address of its region: the only one where the token is known. */
export interface SandboxAccount extends AccountIdentity {
  readonly baseUrl: string;
}
