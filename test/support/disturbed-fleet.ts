// A fleet that is disturbed for some time while its accounts change, and then what must hold of it.
import { expect } from 'vitest';
import { disturb, type Disturbance } from './disturbances.ts';
import { reportOf } from './fleet-checks.ts';
import { type FleetOptions, keepChanging, startFleet, untilMatched } from './fleet.ts';

/** More than `kindsOver` kinds of disturbances must have taken place. The fleet has stopped when it resolves. */
export async function disturbFleet(
  options: FleetOptions,
  disturbances: readonly Disturbance[],
  { seconds, kindsOver, neverLogged }: { seconds: number; kindsOver: number; neverLogged: RegExp },
): Promise<void> {
  const fleet = await startFleet(options);
  const endsAtMs = Date.now() + seconds * 1000;
  const isOver = (): boolean => Date.now() > endsAtMs;
  const [log] = await Promise.all([disturb(fleet, disturbances, isOver), keepChanging(fleet, isOver)]);
  const endMs = Date.now();
  await untilMatched(fleet, 120_000);
  for (const { daemon } of fleet.members) await daemon.stop();

  const { breaches, figures } = await reportOf(fleet, log, { endMs, takeoverMs: options.leaseMs });
  console.log(figures);
  expect(breaches).toEqual({});
  // The disturbances, the changes and the runs took place.
  const sent = fleet.members.reduce((sum, { proxy }) => sum + proxy.requests.length, 0);
  expect(sent).toBeGreaterThan(2 * seconds);
  expect(fleet.effects.length).toBeGreaterThan(seconds / 2);
  expect(log.counts.size).toBeGreaterThan(kindsOver);
  for (const { daemon } of fleet.members) expect(daemon.output().stderr).not.toMatch(neverLogged);
}
