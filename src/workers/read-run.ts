// A program that runs as a child process: reads one large run, and sends its outcome or a page that shows it.
import { describeFailure } from '../app/run-result.ts';
import { StoreError } from '../core/errors.ts';
import { outcomeOf } from '../core/run-outcome.ts';
import { renderRunView } from '../daemon/http/pages/run-views.tsx';
import { serveParent } from '../platform/child-process.ts';
import { sha256 } from '../platform/digest.ts';
import { openStore } from '../store/open-store.ts';
import type { RunReadingAnswer, RunReadingJob } from './stored-runs.ts';

async function read({ store, task }: RunReadingJob): Promise<RunReadingAnswer> {
  const { reader } = await openStore(store, { mustExist: true });
  if (task.type === 'view') {
    return { type: 'view', html: await renderRunView(task.view, reader) };
  }
  const detail = await reader.run(task.runId);
  return {
    type: 'outcome',
    outcome: detail === null ? null : outcomeOf(detail, task.pendingDigest, sha256),
  };
}

const answer = serveParent<RunReadingJob, RunReadingAnswer>(
  (job) =>
    void read(job)
      .catch((error: unknown): RunReadingAnswer => {
        const code = error instanceof StoreError ? error.code : null;
        return { type: 'failed', code, message: describeFailure(error).message };
      })
      .then(answer)
      .then(() => process.exit()),
);
