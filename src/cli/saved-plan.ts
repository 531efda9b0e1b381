// Reads the file of `plan --save`, for `apply --plan`.
import { readFile, stat } from 'node:fs/promises';
import { errorCode } from '../core/error-code.ts';
import { UsageError } from '../core/errors.ts';
import type { Warning } from '../core/catalog.ts';
import type { AgreedPlan } from '../core/operator.ts';
import type { ReviewedPlan } from '../core/plan-changes.ts';
import { type Plan, planDigest, type PlanResult } from '../core/plan.ts';
import { NO_HISTORY } from '../core/plan-warnings.ts';
import { sha256 } from '../platform/digest.ts';
import { checkPlans } from '../report/schemas.ts';
import { showMessage } from './console.ts';

/** A digest that no plan has: a plan that was edited in the file is never applied. */
const EDITED = 'edited';

/**
 * The saved plan of each account; null for an account that could not be planned. A plan whose operations were edited
 * gets a digest that no plan matches.
 */
export async function readSavedPlan(file: string): Promise<ReadonlyMap<string, AgreedPlan | null>> {
  const rows = parse(file, await read(file));
  if (rows.length === 0) throw notAPlan(file, 'it contains no plan');
  const plans = new Map<string, AgreedPlan | null>();
  for (const row of rows) {
    if (typeof row !== 'object' || row === null || !('account' in row) || typeof row.account !== 'string') {
      throw notAPlan(file, 'an entry has no account');
    }
    if (!('schemaVersion' in row) || row.schemaVersion !== 1) {
      throw notAPlan(file, `the schemaVersion of the plan of ${row.account} is not 1`);
    }
    const digest = 'digest' in row && typeof row.digest === 'string' ? row.digest : null;
    if (digest === null && !('error' in row))
      throw notAPlan(file, `the plan of ${row.account} has no digest`);
    if (plans.has(row.account)) throw notAPlan(file, `it contains ${row.account} twice`);
    const isEdited = digest !== null && 'operations' in row && digestOf(row) !== digest;
    if (isEdited) {
      showMessage(
        `${row.account}: its plan in ${file} was edited after it was saved; save a new plan with \`rolecall plan --save\``,
      );
    }
    const checked = checkPlans([row]);
    const [plan] = 'plans' in checked ? checked.plans : [];
    // Nothing is compared with a plan that is not as it was saved: the difference would be that of the edit.
    const reviewed = isEdited || plan === undefined || plan.status === 'failed' ? null : plan;
    plans.set(
      row.account,
      digest === null ? null : agreedTo(isEdited ? EDITED : digest, row as SavedPlan, reviewed),
    );
  }
  return plans;
}

/** A plan from a file, not validated. */
interface SavedPlan {
  readonly warnings?: unknown;
  readonly observedDigest?: unknown;
}

/** What a run must plan again before it applies this plan; null when the account could not be planned. */
export function agreedPlan(plan: PlanResult): AgreedPlan | null {
  return plan.status === 'failed' ? null : agreedTo(plan.digest, plan, plan);
}

function agreedTo(
  digest: string,
  { warnings, observedDigest }: SavedPlan,
  reviewed: ReviewedPlan | null,
): AgreedPlan {
  const isFirst =
    Array.isArray(warnings) && warnings.some((each: Partial<Warning> | null) => each?.code === NO_HISTORY);
  const firstObserved = isFirst && typeof observedDigest === 'string' ? observedDigest : null;
  return { digest, firstObserved, reviewed };
}

/** The digest of the operations in the file, or null when they are malformed. */
function digestOf(row: object): string | null {
  const { operations, remoteAccountId = null } = row as Partial<Pick<Plan, 'operations' | 'remoteAccountId'>>;
  try {
    return planDigest(remoteAccountId, operations ?? [], sha256);
  } catch {
    return null;
  }
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

function parse(file: string, text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // The parser's message is not shown, since it quotes the text.
  }
  throw notAPlan(file, 'it is not a JSON array');
}

function notAPlan(file: string, why: string): UsageError {
  return new UsageError(`${file} is not a file of \`rolecall plan --save\`: ${why}`);
}
