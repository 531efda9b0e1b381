// An account of the sandbox as clients see it: with its address.

import type { AccountIdentity } from './model.ts';

/** An account with its token and the base address of its region. Other regions reject the token. */
export interface SandboxAccount extends AccountIdentity {
  readonly baseUrl: string;
}
