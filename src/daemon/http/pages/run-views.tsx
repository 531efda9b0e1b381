// Renders the two pages that show the plan or the operations of a run. A page of a large run is rendered in a process of
// its own, so that the daemon stays responsive.
import { html } from 'hono/html';
import { remainingPlan } from '../../../core/remaining-operations.ts';
import type { JournalReader } from '../../../core/journal-reader.ts';
import type { RunView } from '../run-view.ts';
import { AccountPage } from './account-page.tsx';
import { RunPage } from './run-page.tsx';

/** The run that the page shows; null when it shows none. */
export function runShownBy(view: RunView): string | null {
  if (view.type === 'run') return view.id;
  const { pending, lastRun } = view.account;
  return pending?.runId ?? lastRun?.id ?? null;
}

/** The text of the page; null when there is no such run. */
export async function renderRunView(view: RunView, runOf: JournalReader['run']): Promise<string | null> {
  const id = runShownBy(view);
  const detail = id === null ? null : await runOf(id);
  if (view.type === 'run') {
    return detail === null ? null : text(<RunPage report={detail} visitor={view.visitor} />);
  }
  const isPending = view.account.pending !== null;
  const hasEnded = detail !== null && detail.run.status !== 'running';
  return text(
    <AccountPage
      account={view.account}
      runs={view.runs}
      plan={isPending ? (detail?.plan ?? null) : null}
      remaining={!isPending && hasEnded ? remainingPlan(detail) : null}
      said={view.said}
      visitor={view.visitor}
    />,
  );
}

async function text(page: unknown): Promise<string> {
  return String(await html`<!doctype html>${page}`);
}
