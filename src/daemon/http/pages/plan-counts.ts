// What a plan would do in a few words, for the button that approves it and the heads of sections.
import { affectedPeople, type Plan } from '../../../core/plan.ts';
import { count } from '../../../report/formatting.ts';

/** `3 creates, 10 deletes, 0 people affected`. A plan without creates does not mention them. */
export function planCounts(plan: Plan): string {
  const { create, delete: deletes } = plan.summary;
  const parts = [
    ...(create === 0 ? [] : [count(create, 'create')]),
    count(deletes, 'delete'),
    `${count(affectedPeople(plan).size, 'person', 'people')} affected`,
  ];
  return parts.join(', ');
}
