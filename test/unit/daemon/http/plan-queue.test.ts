// How many posted plans are made at a time, and how many wait.
import { expect, it } from 'vitest';
import { createPlanQueue, type PlanTicket } from '../../../../src/daemon/http/plan-queue.ts';

it('two plans are made at a time, four wait in their order, and no more come in', async () => {
  const queue = createPlanQueue();
  const begun: number[] = [];
  const tickets = Array.from({ length: 6 }, (_, index): PlanTicket => {
    const ticket = queue.enter();
    if (ticket === null) throw new Error(`there is no room for plan ${index}`);
    void ticket.turn.then(() => begun.push(index));
    return ticket;
  });
  expect([queue.enter(), queue.enter()]).toEqual([null, null]);
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  tickets[0]?.leave();
  tickets[0]?.leave();
  await Promise.resolve();
  expect(begun).toEqual([0, 1, 2]);
  // One that waits may go without having had its turn.
  tickets[3]?.leave();
  tickets[1]?.leave();
  await Promise.resolve();
  expect(begun).toEqual([0, 1, 2, 4]);
  expect(queue.enter()).not.toBeNull();
});
