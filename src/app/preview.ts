// Plans a posted configuration with the history of this store, and journals nothing.
import type { PlanResult } from '../core/plan.ts';
import type { IdentityClaim } from '../core/ports.ts';
import { observe } from './observe.ts';
import { planAccount } from './plan-account.ts';
import { ACCEPT_NOTHING, type AccountRequest, type PlanningDeps } from './request.ts';
import { describeFailure } from './run-result.ts';

/** What a preview needs: reads of the journal, and a look-up of claims that claims nothing itself. */
export interface PreviewDeps extends PlanningDeps {
  readonly claimant: (claim: IdentityClaim) => Promise<string | null>;
}

/** Observes and plans; writes neither to the service nor to the store. Returns a failure as a value. */
export async function preview(request: AccountRequest, deps: PreviewDeps): Promise<PlanResult> {
  const { accountHistory, accountState, foreignOwner, lastGood } = deps.journal;
  const readOnly: PlanningDeps = {
    ...deps,
    journal: {
      accountHistory,
      accountState,
      foreignOwner,
      lastGood,
      adoptRenamedAccount: () => Promise.resolve(null),
      claimRemoteAccount: deps.claimant,
    },
  };
  try {
    const reader = await deps.service.reader(request.settings, request.signals);
    const run = { runId: '', request, deps: readOnly, reader };
    return (await planAccount(run, await observe(run, { writes: false }), ACCEPT_NOTHING)).plan;
  } catch (error) {
    const { name: account } = request.settings;
    return { schemaVersion: 1, account, status: 'failed', error: describeFailure(error) };
  }
}
