// The options that decide how much of a plan is shown.
import type { Command } from 'commander';
import { UsageError } from '../core/errors.ts';
import type { Format, ReportDetail } from '../report/document.ts';

/** Adds `--only-changes` and `--verbose`. */
export function addDetailOptions(command: Command): Command {
  return command
    .option('--only-changes', 'count the accounts without changes instead of showing them')
    .option('--verbose', 'show everything, shorten nothing');
}

/** The chosen detail. Throws UsageError for JSON, which is always complete. */
export function reportDetail({
  format,
  onlyChanges,
  verbose,
}: ReportDetail & { readonly format: Format }): ReportDetail {
  if (format === 'json' && (onlyChanges === true || verbose === true)) {
    throw new UsageError(
      '--only-changes and --verbose have no effect on JSON, which is always complete; leave them out with --format json',
    );
  }
  return { onlyChanges, verbose };
}
