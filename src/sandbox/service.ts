// The parts of a running service, which requests and controls share.
import type { Accounts } from './accounts.ts';
import type { FaultRules } from './fault-rules.ts';
import type { ListWriter } from './lists.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { RequestLog } from './request-log.ts';
import type { SandboxSettings } from './settings.ts';
import type { Timers } from './timers.ts';

export interface Service {
  readonly accounts: Accounts;
  readonly faults: FaultRules;
  readonly limiter: RateLimiter;
  readonly lists: ListWriter;
  readonly log: RequestLog;
  readonly timers: Timers;
  settings: SandboxSettings;
}
