// The options of the commands, as the parser returns them.
import type { Format } from './console.ts';

export interface ReportFlags {
  readonly format: Format;
  readonly output?: string;
}

/** Options of the commands that send requests to the service. */
export interface SendingFlags {
  readonly ignoreRetryAfter?: true;
}

export interface PlanFlags extends ReportFlags, SendingFlags {
  readonly save?: string;
  readonly out?: string;
  readonly server?: string;
  readonly newAccounts: 'ok' | 'fail';
  readonly detailedExitcode?: true;
}

export interface ApplyFlags extends ReportFlags, SendingFlags {
  readonly yes?: true;
  readonly all?: true;
  readonly plan?: string;
  readonly allowHeld?: true;
  readonly acceptShrink?: true;
  readonly acceptNoHistory?: true;
  readonly acceptOlderSource?: true;
  readonly lockTimeout: number;
}
