// The lists that the program received, read with a separate parser of the oracle.
import type { Kind } from '../../../src/core/catalog.ts';
import type { Call } from '../traffic.ts';
import { answeredJson } from '../traffic.ts';

export interface ReceivedEntries {
  readonly call: Call;
  readonly entries: ReadonlyMap<string, string>;
}

export interface ReceivedPerson {
  readonly id: string;
  /** undefined: the field was omitted. */
  readonly skillsIds: readonly string[] | undefined;
  readonly roleId: string | null | undefined;
}

export interface ReceivedPeople {
  readonly call: Call;
  readonly people: readonly ReceivedPerson[];
}

function objectsOf(call: Call): Record<string, unknown>[] | null {
  if (call.method !== 'GET' || call.answer === null) return null;
  if (call.answer.status < 200 || call.answer.status > 299) return null;
  const list = answeredJson(call);
  if (!Array.isArray(list)) return null;
  const objects = list.filter(
    (each): each is Record<string, unknown> => typeof each === 'object' && each !== null,
  );
  return objects.length === list.length && objects.every(({ _id }) => typeof _id === 'string')
    ? objects
    : null;
}

/** The readable lists of one kind among the calls, oldest first. */
export function receivedEntries(calls: readonly Call[], kind: Kind): ReceivedEntries[] {
  return calls.flatMap((call) => {
    const objects = call.kind === kind ? objectsOf(call) : null;
    if (objects === null || !objects.every(({ name }) => typeof name === 'string')) return [];
    return [{ call, entries: new Map(objects.map(({ _id, name }) => [String(_id), String(name)])) }];
  });
}

/** The readable lists of people among the calls, oldest first. */
export function receivedPeople(calls: readonly Call[]): ReceivedPeople[] {
  return calls.flatMap((call) => {
    const objects = call.kind === 'resource' ? objectsOf(call) : null;
    if (objects === null) return [];
    const people = objects.map(({ _id, skillsIds, roleId }): ReceivedPerson => ({
      id: String(_id),
      skillsIds: Array.isArray(skillsIds) ? skillsIds.map(String) : undefined,
      roleId: roleId === null || typeof roleId === 'string' ? roleId : undefined,
    }));
    return [{ call, people }];
  });
}

/** The people who have an entry according to a list of people. */
export function holdersOf(kind: Kind, id: string, people: readonly ReceivedPerson[]): string[] {
  return people
    .filter(({ skillsIds, roleId }) => (kind === 'skill' ? skillsIds?.includes(id) : roleId === id))
    .map((person) => person.id);
}
