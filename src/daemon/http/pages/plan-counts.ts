// What a plan would do in a few words, for the button that approves it and the heads of sections.
import type { Plan } from '../../../core/plan.ts';
import { count } from '../../../report/formatting.ts';
import { affectedText, losingPeople } from '../../../report/plan-sentence.ts';

/**
 * `3 creates, 10 deletes, 0 people affected`, or that nobody can tell. A plan without creates does not mention them.
 */
export function planCounts(plan: Plan): string {
  const { create, delete: deletes } = plan.summary;
  const parts = [
    ...(create === 0 ? [] : [count(create, 'create')]),
    count(deletes, 'delete'),
    affectedText(affected, losingPeople(plan), deletes),
  ];
  return parts.join(', ');
}

function affected(people: number): string {
  return `${count(people, 'person', 'people')} affected`;
}
