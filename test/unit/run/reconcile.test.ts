// Complete runs on the sandbox: order, identity, changes during the run, and failures.
import { describe, expect, it } from 'vitest';
import type { ApplyDeps } from '../../../src/run/request.ts';
import type { RunResult } from '../../../src/run/run-result.ts';
import { StoreError } from '../../../src/core/errors.ts';
import type { Journal } from '../../../src/core/ports/journal.ts';
import type { ServiceReader } from '../../../src/core/ports/service.ts';
import type { ProgressObserver } from '../../../src/core/ports/progress.ts';
import { onResult, stage } from './stage.ts';

const PERSON = { id: 'p1', skills: [] };

/** The same dependencies with a reader that calls back around each list. */
function watching(deps: ApplyDeps, before: (what: string) => void | Promise<void>): ApplyDeps {
  const wrap = (reader: ServiceReader): ServiceReader => ({
    async listEntries(kind) {
      await before(kind);
      return await reader.listEntries(kind);
    },
    async listResources() {
      await before('resource');
      return await reader.listResources();
    },
    traffic: () => reader.traffic(),
  });
  return {
    ...deps,
    service: {
      reader: async (account, signals) => wrap(await deps.service.reader(account, signals)),
      writer: (account, signals) => deps.service.writer(account, signals),
      tokenKey: (account, signals) => deps.service.tokenKey(account, signals),
    },
  };
}

describe('a run', () => {
  it('that another process took over is interrupted, also when nothing remains to do', async () => {
    const on = await stage({ seed: { name: 'acme', id: '42', skills: ['Kept'] } });
    const wish = { skills: ['Kept', 'New'] };
    let taking: Promise<RunResult> | undefined;
    const late = await on.apply({
      ...wish,
      deps: (deps) =>
        watching(deps, async () => {
          if (taking === undefined) {
            on.clock.pass(31_000);
            taking = on.apply(wish);
          }
          await taking;
        }),
    });
    expect((await taking)?.status).toBe('converged');
    expect(late).toMatchObject({ status: 'interrupted', failure: { code: 'lock_lost' } });
    expect((await on.store.reader.run(late.runId))?.run.status).toBe('interrupted');
    expect(on.writes()).toEqual(['POST skill New']);
  });
});

describe('right before the first delete', () => {
  const seed = { name: 'acme', id: '42', skills: ['A', 'B', 'C'], resources: [PERSON] };

  const idOf = (on: Awaited<ReturnType<typeof stage>>, name: string): string =>
    on.sandbox.state('acme').skills.find((each) => each.name === name)?.id ?? '';

  it.each([
    ['takes longer than a minute', 60_000, 0],
    ['takes longer than a minute on a clock that is set back', 60_000, -86_400_000],
  ])('the lists are read again when deleting %s', async (_, passMs, setByMs) => {
    const on = await stage({ seed, api: { concurrency: 1 } });
    let deleted = 0;
    const made = await on.apply({
      skills: [],
      progress: onResult(() => {
        deleted += 1;
        if (deleted !== 1) return;
        on.clock.pass(passMs);
        on.clock.setBy(setByMs);
        on.sandbox.assign('acme', 'p1', idOf(on, 'C'));
      }),
    });
    expect([made.status, on.skills()]).toEqual(['held', ['C']]);
  });
});

describe('the account id', () => {
  it('is found before an approved delete that precedes the creates', async () => {
    const seed = { name: 'acme', id: '42', skills: ['typescript'] };
    const on = await stage({ seed, settings: { omitOptionalFields: true } });
    const made = await on.apply({
      skills: ['TypeScript'],
      allowedDeletes: [{ kind: 'skill', name: 'typescript', expires: '2999-12-31' }],
      accountId: '43',
    });
    expect(made.failure?.code).toBe('identity_mismatch');
    expect(on.skills()).toContain('typescript');
  });
});

describe('a store that fails', () => {
  /** A journal whose commits fail from the n-th on. */
  const failing =
    (from: number) =>
    (deps: ApplyDeps): ApplyDeps => {
      let commits = 0;
      const commitOperations: Journal['commitOperations'] = (...args) => {
        commits += 1;
        if (commits >= from) return Promise.reject(new StoreError('store_full', 'the disk is full'));
        return deps.journal.commitOperations(...args);
      };
      return {
        ...deps,
        journal: new Proxy(deps.journal, {
          get: (target, key) => (key === 'commitOperations' ? commitOperations : Reflect.get(target, key)),
        }),
      };
    };

  it('before a lost delete is settled leaves it to the next run', async () => {
    const on = await stage({
      seed: { name: 'acme', skills: ['Old'], resources: [PERSON] },
      // The repetition is answered with 404.
      faults: [{ match: { method: 'DELETE' }, do: { type: 'drop-after-effect' } }],
    });
    const late = (deps: ApplyDeps): ApplyDeps =>
      watching(deps, () => {
        if (on.writes().length > 0) throw new StoreError('store_full', 'the disk is full');
      });
    const wish = { skills: [], policy: { maxDeletePercent: 100 } };
    await expect(on.apply({ ...wish, deps: late })).rejects.toBeInstanceOf(StoreError);
    expect(on.rows('select status from operations')).toEqual([{ status: 'unknown' }]);
    expect((await on.apply(wish)).status).toBe('converged');
    expect(on.rows('select status from operations')).toEqual([{ status: 'done' }]);
    expect(on.rows('select deleted_by_run is not null as told from entries')).toEqual([{ told: 1 }]);
  });

  it('at the end of a run is journaled with what was done', async () => {
    const on = await stage({ seed: { name: 'acme', skills: ['Old'], resources: [PERSON] } });
    const refuseAfter: Journal['recordObservation'] = (observation, planned) =>
      observation.phase === 'after'
        ? Promise.reject(new StoreError('store_full', 'the disk is full'))
        : on.store.journal.recordObservation(observation, planned);
    const deps = (of: ApplyDeps): ApplyDeps => ({
      ...of,
      journal: new Proxy(of.journal, {
        get: (target, key) => (key === 'recordObservation' ? refuseAfter : Reflect.get(target, key)),
      }),
    });
    await expect(on.apply({ skills: ['A', 'B'], deps })).rejects.toBeInstanceOf(StoreError);
    expect(
      on.rows('select status, error_code, created, deleted, plan_digest is null as planless from runs'),
    ).toEqual([{ status: 'failed', error_code: 'store_full', created: 2, deleted: 1, planless: 0 }]);
  });

  it.each([2, 3, 4])(
    'at commit %d sends nothing more, and the next run continues without a duplicate',
    async (from) => {
      const on = await stage({
        seed: { name: 'acme', skills: ['Old'], resources: [PERSON] },
        api: { concurrency: 1 },
      });
      const names = ['A', 'B', 'C', 'D', 'E', 'F'];
      await expect(on.apply({ skills: names, deps: failing(from) })).rejects.toBeInstanceOf(StoreError);
      expect(on.writes().length).toBeLessThan(from);
      expect(on.rows("select 1 from operations where status = 'done'").length).toBeLessThanOrEqual(
        on.writes().length,
      );
      expect(on.skills()).toContain('Old');
      expect((await on.apply({ skills: names })).status).toBe('converged');
      expect(on.skills()).toEqual(names);
      expect(on.writes().filter((write) => write.startsWith('POST'))).toHaveLength(names.length);
    },
  );
});

it('skills and roles are read before the people, in every reading', async () => {
  const on = await stage({ seed: { name: 'acme', skills: ['Old'], resources: [PERSON] } });
  const read: string[] = [];
  await on.apply({ skills: ['New'], deps: (deps) => watching(deps, (what) => void read.push(what)) });
  expect(read.length % 3).toBe(0);
  for (let index = 0; index < read.length; index += 3) {
    expect(read.slice(index, index + 3)).toEqual(['skill', 'role', 'resource']);
  }
  // To plan, before the first delete, to verify.
  expect(read.length).toBeGreaterThanOrEqual(9);
});

describe('the progress of a run', () => {
  /** The activities in their order, without repetition. */
  function recorder(): { readonly seen: string[]; readonly progress: ProgressObserver } {
    const seen: string[] = [];
    return {
      seen,
      progress(activity) {
        const text = activity.type === 'apply' ? `${activity.action} of ${activity.total}` : activity.type;
        if (seen.at(-1) !== text) seen.push(text);
      },
    };
  }

  it('names each step', async () => {
    const { seen, progress } = recorder();
    const on = await stage({ seed: { name: 'acme', id: '42', skills: ['Old'], resources: [PERSON] } });
    await on.apply({ skills: ['A', 'B'], progress });
    // On a new store, the lists are read twice before something is created.
    const first = ['lists', 'recheck', 'lists'];
    expect(seen).toEqual([...first, 'plan', 'create of 3', 'lists', 'delete of 3', 'verify']);
  });

  it('names the waits for the first create into an empty list, and for the list that shows it', async () => {
    const { seen, progress } = recorder();
    const on = await stage({ seed: { name: 'acme', id: '42', resources: [PERSON] } });
    await on.apply({ skills: ['A', 'B'], progress });
    const first = ['lists', 'recheck', 'lists'];
    expect(seen).toEqual([...first, 'plan', 'create of 2', 'verify', 'create of 2', 'verify']);
  });
});
