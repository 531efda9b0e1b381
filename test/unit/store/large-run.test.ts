// Runs that are too large to be read at once.
import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/core/plan.ts';
import { runJson } from '../../../src/daemon/run-json.ts';
import { runReportToJson } from '../../../src/report/run-json.ts';
import { entry, plan } from '../core/builders.ts';
import { type Fixture, fixture, operation } from './fixture.ts';

const MANY = Array.from({ length: 12_000 }, (_, number) => `Skill ${number}`);

function largePlan(): Plan {
  return plan({ skills: [], observed: { skill: MANY.map((name) => entry(name)) } });
}

async function runOf(store: Fixture, made: Plan | null, operations: readonly string[] = []): Promise<string> {
  const id = await store.begin(1);
  if (made !== null) await store.journal.recordPlan(id, made);
  await store.journal.addOperations(
    id,
    operations.map((name) => operation({ name, reason: 'said “so”\n' })),
  );
  await store.end(id, 'held');
  return id;
}

const isLarge = async (store: Fixture, id: string) => (await store.reader.runHead(id))?.isLarge;

describe('a run', () => {
  it('is large if its plan is large, even if the plan compresses well', async () => {
    const store = await fixture();
    const id = await runOf(store, largePlan());
    const [row] = store.rows<{ packed: number }>('select length(body) as packed from plan_bodies');
    expect(row?.packed).toBeLessThan(500_000);
    expect(await isLarge(store, id)).toBe(true);
  });

  it('is large if its operations or warnings are many', async () => {
    const store = await fixture();
    const id = await runOf(store, null, MANY);
    expect(await isLarge(store, id)).toBe(true);
    store.execute('delete from operations');
    expect(await isLarge(store, id)).toBe(false);
    store.execute(
      'update runs set warnings = ?',
      JSON.stringify([{ code: 'x', message: 'y'.repeat(3_000_000) }]),
    );
    expect(await isLarge(store, id)).toBe(true);
  });

  it('is not large with a plan of a few changes, or without one', async () => {
    const store = await fixture();
    const id = await runOf(store, plan({ skills: ['Go'] }), ['Go']);
    expect(await isLarge(store, id)).toBe(false);
    store.execute('update runs set plan_body = null');
    expect(await isLarge(store, id)).toBe(false);
  });
});

describe('the JSON of a large run', () => {
  it('is the same when read in parts and when read at once', async () => {
    const store = await fixture();
    const id = await runOf(store, largePlan(), MANY);
    store.execute('update runs set warnings = ?', '[{"code":"x","message":"“y”"}]');
    const json = await runJson(id, store.reader);
    if (json === null || typeof json === 'string') throw new Error('it is not in pieces');
    const detail = await store.reader.run(id);
    if (detail === null) throw new Error('no run');
    expect(detail.plan?.createdAt).toBe(detail.run.startedAt);
    expect((await text(Readable.from(json))) === JSON.stringify(runReportToJson(detail))).toBe(true);
  });

  it('has no plan where none was made', async () => {
    const store = await fixture();
    const id = await runOf(store, null, MANY);
    const json = await runJson(id, store.reader);
    if (json === null || typeof json === 'string') throw new Error('it is not in pieces');
    expect(JSON.parse(await text(Readable.from(json)))).toMatchObject({ plan: null, warnings: [] });
  });

  it('ends with an error when the run is deleted while it is read', async () => {
    const deletions = ['delete from runs', 'delete from operations where seq > 6000'];
    for (const deletion of deletions) {
      const store = await fixture();
      const id = await runOf(store, largePlan(), MANY);
      const json = await runJson(id, {
        ...store.reader,
        async operationsAfter(runId, seq) {
          if (seq === 0) store.execute(deletion);
          return await store.reader.operationsAfter(runId, seq);
        },
      });
      if (json === null || typeof json === 'string') throw new Error('it is not in pieces');
      await expect(text(Readable.from(json))).rejects.toThrow('the run was deleted');
    }
  });

  it('ends with an error when the run is deleted before the first part', async () => {
    const store = await fixture();
    const id = await runOf(store, largePlan());
    const json = await runJson(id, store.reader);
    store.execute('delete from runs');
    if (json === null || typeof json === 'string') throw new Error('it is not in pieces');
    await expect(text(Readable.from(json))).rejects.toThrow('the run was deleted');
  });
});
