// The confirmation of `apply` without `--yes`: plans all accounts, shows the plans and asks.
import type { ConfiguredAccount, ServiceSettings } from '../core/settings.ts';
import { UsageError } from '../core/errors.ts';
import { type AgreedPlan, type PauseOfAll, pausedError } from '../core/operator.ts';
import { onlyOf, type Plan, type PlanResult } from '../core/plan.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import { isOneDocument, type ReportDetail } from '../report/document.ts';
import { renderPlans } from '../report/plan-report.ts';
import { changeCounts } from '../report/plan-sentence.ts';
import { count } from '../report/formatting.ts';
import { mapAccounts } from './progress.ts';
import { type Output, showMessage, terminalRender, canAsk, confirm } from './console.ts';
import type { Session } from './compose.ts';
import { type ExitStatus, combine, EXIT, failureExit } from './exit-status.ts';
import { agreedPlan, planOne } from './plan-accounts.ts';

/** `agreed`: the confirmed plan of each account, null if planning failed. `exit`: the status when nothing is applied. */
export type Consent =
  | { readonly agreed: ReadonlyMap<string, AgreedPlan | null> }
  | { readonly exit: ExitStatus; readonly runIds: readonly string[]; readonly refusal?: UsageError };

interface ApplyRequest {
  readonly accounts: readonly ConfiguredAccount[];
  readonly session: Session;
  readonly signals: RunSignals;
  readonly service: ServiceSettings;
  readonly detail: ReportDetail;
  /** Whether the deletes of the plans are left out. */
  readonly noDelete: boolean;
  /** The pause of all accounts, if it binds: it refuses every plan, or leaves its deletes out. */
  readonly pause: PauseOfAll | null;
}

/** Shows the plans of all accounts and asks once. Refuses when there is no terminal to ask on. */
export async function askToApply(
  { accounts, session, signals, service, detail, noDelete, pause }: ApplyRequest,
  output: Output,
): Promise<Consent> {
  const planned = await mapAccounts('planned', accounts, service, (account, observe) =>
    planOne(account, { session, signals, observe }),
  );
  const results = planned.map(({ result }) => result);
  const runIds = planned.map(({ runId }) => runId);
  await showPlans(results, output, detail);
  if (signals.stop.aborted) return { exit: EXIT.interrupted, runIds };
  const failures = results.flatMap((result) =>
    result.status === 'failed' ? [failureExit(result.error.code)] : [],
  );
  if (pause?.onlyDeletes === false) {
    showMessage(`${pausedError(pause).message}. Nothing was written.`);
    return { exit: combine([...failures, EXIT.held]), runIds };
  }
  const agreed = new Map(results.map((result) => [result.account, agreedTo(result)]));
  const text = question(noDelete || pause !== null ? results.map(withoutDeletes) : results);
  if (text === null) return { agreed };
  if (!canAsk()) return { exit: EXIT.usage, runIds, refusal: noTerminal() };
  const answer = await confirm(text, signals.stop);
  if (answer === 'yes') return { agreed };
  showMessage('Nothing was written.');
  if (answer === 'interrupted') return { exit: EXIT.interrupted, runIds };
  return { exit: combine([...failures, EXIT.changes]), runIds };
}

function withoutDeletes(result: PlanResult): PlanResult {
  return result.status === 'failed' ? result : onlyOf('create', result);
}

/** Prints the plans as the report, and also above the question when the report is written elsewhere. */
export async function showPlans(
  plans: readonly PlanResult[],
  output: Output,
  detail: ReportDetail,
): Promise<void> {
  // A report that is one document is about the runs, which contain the plans.
  const isReported = !isOneDocument(output.render.format);
  if (isReported) await output.print(renderPlans(plans, { ...output.render, ...detail }));
  if (isReported && output.isTerminal) return;
  if (!isReported || canAsk()) process.stderr.write(renderPlans(plans, { ...terminalRender(), ...detail }));
}

/** The plan that a "yes" agrees to. A blocked plan is not asked about, so that no plan is agreed to. */
function agreedTo(result: PlanResult): AgreedPlan | null {
  const agreed = agreedPlan(result);
  return agreed !== null && result.status === 'blocked' ? { ...agreed, digest: BLOCKED } : agreed;
}

/** A digest that no plan has. */
const BLOCKED = 'blocked';

/** The question, with the numbers of changes and of people who lose something. null if there is nothing to apply. */
export function question(results: readonly PlanResult[]): string | null {
  const plans = results.flatMap((result) =>
    result.status === 'planned' && result.operations.length > 0 ? [result] : [],
  );
  const [first] = plans;
  if (first === undefined) return null;
  const where = plans.length === 1 ? first.account : count(plans.length, 'account');
  return `Apply to ${where}: ${changeCounts(...plans)}?${undoneText(plans)}`;
}

/** Warns of deletes. */
export function undoneText(plans: readonly Plan[]): string {
  return plans.some(({ summary }) => summary.delete > 0) ? ' Deletes cannot be undone.' : '';
}

function noTerminal(): UsageError {
  return new UsageError(
    'there is no terminal to ask on, so nothing was written; review the plan and use --yes, or run `rolecall plan --save FILE` and then apply with --plan FILE',
  );
}
