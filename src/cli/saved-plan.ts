// Reads the file of `plan --save`, for `apply --plan`.
import { readFile, stat } from 'node:fs/promises';
import { errorCode } from '../core/error-code.ts';
import { UsageError } from '../core/errors.ts';
import type { AgreedPlan } from '../core/operator.ts';
import { planDigest, type PlanResult } from '../core/plan.ts';
import { NO_HISTORY } from '../core/plan-warnings.ts';
import { sha256 } from '../system/digest.ts';
import { checkPlans } from '../report/schemas.ts';
import { showMessage } from './console.ts';

/** A digest that no plan has: a plan that was edited in the file is never applied. */
const EDITED = 'edited';

/**
 * The saved plan of each account; null for an account that could not be planned. A plan whose operations were edited
 * gets a digest that no plan matches.
 */
export async function readSavedPlan(file: string): Promise<ReadonlyMap<string, AgreedPlan | null>> {
  const checked = checkPlans(parse(file, await read(file)));
  if ('problem' in checked) throw notAPlan(file, checked.problem);
  if (checked.plans.length === 0) throw notAPlan(file, 'it contains no plan');
  const plans = new Map<string, AgreedPlan | null>();
  for (const plan of checked.plans) {
    const { account } = plan;
    if (plans.has(account)) throw notAPlan(file, `it contains ${account} twice`);
    if (
      plan.status === 'failed' ||
      planDigest(plan.remoteAccountId, plan.operations, sha256) === plan.digest
    ) {
      plans.set(account, agreedPlan(plan));
      continue;
    }
    showMessage(
      `${account}: its plan in ${file} was edited after it was saved; save a new plan with \`rolecall plan --save\``,
    );
    // Nothing is compared with a plan that is not as it was saved: the difference would be that of the edit.
    plans.set(account, { digest: EDITED, firstObserved: null, reviewed: null });
  }
  return plans;
}

/** What a run must plan again before it applies this plan; null when the account could not be planned. */
export function agreedPlan(plan: PlanResult): AgreedPlan | null {
  if (plan.status === 'failed') return null;
  const isFirst = plan.warnings.some(({ code }) => code === NO_HISTORY);
  return { digest: plan.digest, firstObserved: isFirst ? plan.observedDigest : null, reviewed: plan };
}

/** More than the plan of the largest account. */
const LARGEST_BYTES = 256 * 1024 ** 2;

async function read(file: string): Promise<string> {
  try {
    const found = await stat(file);
    // A pipe could block, and a device may have no end.
    if (found.isFile() && found.size <= LARGEST_BYTES) return await readFile(file, 'utf8');
  } catch (error) {
    const reason = errorCode(error);
    throw new UsageError(`cannot read the saved plan ${file} (${reason}); check the path of --plan`);
  }
  throw notAPlan(file, 'it is not a regular file of at most 256 MiB');
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message is not shown, since it quotes the text.
  }
  throw notAPlan(file, 'it is not JSON');
}

function notAPlan(file: string, why: string): UsageError {
  return new UsageError(`${file} is not a file of \`rolecall plan --save\`: ${why}`);
}
