// The daemon's own checkout: what a fetch changes, what it logs, and which listeners are called for a new commit.
import { expect, it, onTestFinished } from 'vitest';
import { openGitSource } from '../../../src/daemon/git-source.ts';
import { testLog } from './notify/stage.ts';

type Result = { readonly type: string; readonly sha?: string; readonly reason?: string };

/** A source whose fetches have these results; the last one is repeated. */
async function open(...results: (Result | Promise<Result>)[]) {
  const log = testLog();
  const counted: string[] = [];
  const aborted: boolean[] = [];
  const source = await openGitSource({
    checkout: {
      async refresh(signal) {
        aborted.push(signal?.aborted ?? false);
        return (results.length > 1 ? results.shift() : results[0]) ?? { type: 'unchanged' };
      },
    },
    intervalMs: 3_600_000,
    log,
    metrics: {
      sourceFetched: () => void counted.push('fetched'),
      sourceRefused: (isRefused) => void counted.push(isRefused ? 'refused' : 'accepted'),
    },
  });
  onTestFinished(() => source.close());
  const events = (): unknown[] => log.lines.map(({ event }) => event);
  return { source, events, counted, aborted };
}

it('a new commit is announced to all listeners, an unchanged one to none', async () => {
  const { source, events } = await open(
    { type: 'unchanged' },
    { type: 'updated', sha: 'a' },
    { type: 'unchanged' },
  );
  let updates = 0;
  source.onUpdate(() => (updates += 1));
  source.onUpdate(() => (updates += 10));
  await source.refresh();
  await source.refresh();
  expect([updates, source.problem(), events()]).toEqual([11, null, ['source_updated']]);
});

it('a refused commit is a problem that is logged once, until the newest commit is used again', async () => {
  const refused = { type: 'refused', sha: 'b', reason: 'not a descendant' };
  const { source, events, counted } = await open(refused, refused, { type: 'updated', sha: 'c' });
  await source.refresh();
  expect([source.problem(), events()]).toEqual(['not a descendant', ['source_failed']]);
  await source.refresh();
  expect([source.problem(), events()]).toEqual([null, ['source_failed', 'source_fixed', 'source_updated']]);
  expect(counted).toEqual(['fetched', 'refused', 'fetched', 'refused', 'fetched', 'accepted', 'fetched']);
});

it('a failed fetch does not change the time of the last success, which is the start at first', async () => {
  const { source, counted } = await open({ type: 'failed', reason: 'no route' });
  expect([source.problem(), counted]).toEqual(['no route', ['fetched', 'accepted']]);
});

it('requests during a fetch share the one fetch that follows it', async () => {
  let finish = (): void => undefined;
  const slow = new Promise<Result>((resolve) => (finish = () => resolve({ type: 'unchanged' })));
  const { source, aborted } = await open({ type: 'unchanged' }, slow, { type: 'unchanged' });
  const first = source.refresh();
  await Promise.resolve();
  const others = [source.refresh(), source.refresh(), source.refresh()];
  expect(aborted).toHaveLength(2);
  finish();
  await Promise.all([first, ...others]);
  expect(aborted).toHaveLength(3);
});

it('a closed git source ends the running fetch and ignores its result', async () => {
  const { source, aborted, events } = await open({ type: 'unchanged' }, { type: 'updated', sha: 'a' });
  await source.close();
  expect(aborted).toEqual([false, true]);
  await source.refresh();
  expect(events()).toEqual([]);
});
