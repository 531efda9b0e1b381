// The words and figures that all reports share: counts, durations, instants, and what a rule means.
import { KINDS, type Kind } from '../core/catalog.ts';
import type { HoldRule, LeaveRule } from '../core/plan.ts';
import type { Line, Part } from './document.ts';

/** `1 person`, `3 people`. */
export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`;
}

/** `nobody`, `1 person`, `3 people`. */
export function people(amount: number): string {
  return amount === 0 ? 'nobody' : count(amount, 'person', 'people');
}

/** The items by kind, skills first, kinds without items left out. */
export function byKind<T extends { readonly kind: Kind }>(items: readonly T[]): [Kind, T[]][] {
  return KINDS.map((kind): [Kind, T[]] => [kind, items.filter((item) => item.kind === kind)]).filter(
    ([, some]) => some.length > 0,
  );
}

/** Milliseconds between two instants, or null when one of them is missing or no instant. */
export function elapsedMs(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null;
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** `850 ms`, `12.3 s`, `4 min 5 s`, `2 h 3 min`; `–` for what is not known. */
export function duration(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** `2026-11-21 05:24:10 UTC` of a UTC ISO 8601 instant; anything else as it is. */
export function instant(iso: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(iso);
  return match === null ? iso : `${match[1] ?? ''} ${match[2] ?? ''} UTC`;
}

/** The first twelve digits of a commit, with whatever follows it. */
export function shortCommit(commit: string): string {
  return commit.replace(/^([0-9a-f]{12})[0-9a-f]{28}(?![0-9a-f])/, '$1');
}

/** The lines of a message that may have several. */
export function messageLines(message: string): Line[] {
  return message.split(/\r?\n/).map((line): Line => [line]);
}

/** The pieces with `, ` between them. */
export function commas(parts: readonly Part[]): Line {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [', ', part]));
}

/** What each rule that holds means, in a few words (contract, section 4). */
export const HOLD_WORDS: Readonly<Record<HoldRule, string>> = {
  in_use: 'people have it',
  max_deletes: 'too many deletes in one plan',
  max_deletes_per_day: 'too many deletes in one day',
  max_delete_percent: 'too large a part of its kind',
  empty_catalog: 'the file asks for an empty catalog',
  rename: 'a rename that people have not moved over from',
  suspected_rename: 'looks like a rename that nobody declared',
  failed_creates: 'a create of its kind failed',
  stale_source: 'the configuration is older than the one last applied',
  flapping: 'something else keeps undoing it',
  too_new: 'not yet unused for long enough',
  holders_missing: 'people who had it, or what they have, are missing from the lists',
  freeze: 'nothing is written in this window',
  no_history: 'the store holds no earlier lists of the account',
  no_people: 'the service lists no people at all',
};

/** Why each leaving policy lets an entry stay (contract, section 4). */
export const LEAVE_WORDS: Readonly<Record<LeaveRule, string>> = {
  unmanaged: 'not made or adopted by rolecall',
  protected: 'protected by the policy',
  never_delete: 'the policy never deletes',
  duplicate: 'a second entry of the same name',
};
