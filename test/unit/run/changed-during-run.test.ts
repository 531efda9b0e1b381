// The account's file and its pause bind a run that is under way: after a change it sends nothing more.
import { describe, expect, it } from 'vitest';
import type { ApplyDeps } from '../../../src/run/request.ts';
import { onResult, operations, stage, type Stage, type Wish } from './stage.ts';

const SAM = { name: 'sam', via: 'cli' } as const;
const SEED = {
  name: 'acme',
  id: '42',
  skills: ['Kept', 'Old', 'Older'],
  resources: [{ id: 'p1', skills: [] }],
};
const WISH: Wish = { skills: ['Kept', 'New'] };

const pause = async (on: Stage) =>
  void (await on.store.operator.operate(
    { action: 'pause', account: 'acme', reason: 'stop it' },
    SAM,
    on.clock.nowMs(),
  ));

/** The same dependencies, with what the account's file contains: a digest, or null when it is invalid. */
function withFile(digest: () => string | null | undefined): (deps: ApplyDeps) => ApplyDeps {
  return (deps) => ({
    ...deps,
    currentDigest: async (account) => {
      const now = digest();
      return now === undefined ? await deps.currentDigest(account) : now;
    },
  });
}

describe('a run whose account', () => {
  it('was paused while it created entries deletes nothing, and says so', async () => {
    const on = await stage({ seed: SEED });
    let paused: Promise<void> | undefined;
    const made = await on.apply({
      ...WISH,
      trigger: 'schedule',
      progress: onResult(() => {
        paused ??= pause(on);
      }),
    });
    await paused;
    expect([made.status, on.writes()]).toEqual(['partial', ['POST skill New']]);
    expect(operations(on).map(({ name, status }) => `${name} ${status}`)).toEqual([
      'New done',
      'Old skipped',
      'Older skipped',
    ]);
    const { code, message = '' } = made.failure ?? {};
    expect([code, message]).toEqual(['changed_during_run', expect.stringContaining('paused by sam')]);
    const reasons = on.rows<{ reason: string }>("select reason from operations where status = 'skipped'");
    expect(reasons.map(({ reason }) => reason)).toEqual([message, message]);
    expect((await on.apply(WISH)).status).toBe('converged');
  });

  it.each([
    ['changed', 'another', 'changed since the run began'],
    ['became invalid or unreadable', null, 'invalid'],
  ])('has a file that %s while it created entries deletes nothing', async (_, now, reason) => {
    const on = await stage({ seed: SEED });
    let digest: string | null | undefined;
    const made = await on.apply({
      ...WISH,
      progress: onResult(() => (digest = now)),
      deps: withFile(() => digest),
    });
    expect([made.status, on.writes()]).toEqual(['partial', ['POST skill New']]);
    expect(made.failure?.message).toContain(reason);
  });

  it.each([
    ['before its first create sends nothing', 0, 0],
    ['while it creates entries creates none after the next reading', 1, 3],
  ])('has a file that changes %s', async (_, changesAt, creates) => {
    const on = await stage({ seed: SEED, api: { concurrency: 1 } });
    let done = 0;
    const made = await on.apply({
      skills: ['Kept', 'Old', 'Older', 'New 1', 'New 2', 'New 3', 'New 4', 'New 5'],
      progress: onResult(() => {
        done += 1;
        on.clock.pass(25_000);
      }),
      deps: withFile(() => (done < changesAt ? undefined : 'another')),
    });
    expect([made.status, made.failure?.code]).toEqual(['partial', 'changed_during_run']);
    expect(on.writes()).toHaveLength(creates);
  });

  it.each(['cli', 'manual'] as const)('was paused before a %s run deletes as planned', async (trigger) => {
    const on = await stage({ seed: SEED });
    await pause(on);
    expect((await on.apply({ ...WISH, trigger })).status).toBe('converged');
    expect(on.skills()).toEqual(['Kept', 'New']);
  });

  it('was paused in the moment before a scheduled run begins sends nothing', async () => {
    const on = await stage({ seed: SEED });
    await pause(on);
    expect((await on.apply({ ...WISH, trigger: 'schedule' })).status).toBe('partial');
    expect(on.writes()).toEqual([]);
  });

  it('is paused while it deletes sends the deletes of the present lists, and none after the next reading', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `Old ${index}`);
    const on = await stage({ seed: { ...SEED, skills: ['Kept', ...names] }, api: { concurrency: 1 } });
    let paused: Promise<void> | undefined;
    const progress = onResult(() => {
      paused ??= pause(on);
      on.clock.pass(25_000);
    });
    const made = await on.apply({ skills: ['Kept'], progress });
    expect(made.status).toBe('partial');
    const statuses = operations(on).map(({ status }) => status);
    expect(statuses.filter((status) => status === 'done').length).toBeLessThan(names.length);
    expect(statuses).toContain('skipped');
    await paused;
  });
});
