// Formats the values that all reports share: counts, durations, times, the order of names and the meanings of the rules.
import { type Action, KINDS, type Kind } from '../core/catalog.ts';
import type { LeaveRule, AccountStateName } from '../core/journal.ts';
import type { Links } from '../core/settings.ts';
import { type Fact, type Line, type Part, type Tone, toned } from './document.ts';
import { compareCodePoints } from '../core/names.ts';

export { count, people } from '../core/amounts.ts';

/** The items grouped by kind, skills first. A kind without items is left out. */
export function byKind<T extends { readonly kind: Kind }>(items: readonly T[]): [Kind, T[]][] {
  return KINDS.map((kind): [Kind, T[]] => [kind, items.filter((item) => item.kind === kind)]).filter(
    ([, some]) => some.length > 0,
  );
}

/** Milliseconds between two ISO 8601 times, or null when one of them is missing or invalid. */
export function elapsedMs(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null;
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** `850 ms`, `12.3 s`, `4 min 5 s`, `2 h 3 min`; `–` for an unknown duration. */
export function duration(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** A time that is still to wait, in whole seconds, rounded up: the tenths of an estimate mean nothing. */
export function waitText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1000);
}

/** `2026-11-21 05:24:10 UTC` for a UTC ISO 8601 time. Any other text is returned unchanged. */
export function instant(iso: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(iso);
  return match === null ? iso : `${match[1] ?? ''} ${match[2] ?? ''} UTC`;
}

/** `2026-11-21 05:24`, for tables whose heads name UTC. Any other text is returned unchanged. */
export function briefInstant(iso: string): string {
  return iso.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):.*Z$/, '$1 $2');
}

/** Shortens a leading commit id to twelve digits and keeps the text behind it. */
export function shortCommit(commit: string): string {
  return commit.replace(/^([0-9a-f]{12})[0-9a-f]{28}(?![0-9a-f])/, '$1');
}

export function commitCode(commit: string, { commitsAt }: Links = {}): Part {
  return { code: shortCommit(commit), url: commitsAt && `${commitsAt}${commit}` };
}

/** The page of the account, where the address of the pages is known. */
export function pageFact(account: string, { publicUrl }: Links = {}): Fact[] {
  const url = `${publicUrl ?? ''}/accounts/${encodeURIComponent(account)}`;
  return publicUrl === undefined ? [] : [{ label: 'Page', line: [{ code: account, url }] }];
}

/** Splits a message into its lines. */
export function messageLines(message: string): Line[] {
  return message.split(/\r?\n/).map((line): Line => [line]);
}

/** The lines as one, separated by a text. */
export function joined(lines: readonly Line[], by: string): Line {
  return lines.flatMap((line, index) => (index === 0 ? line : [by, ...line]));
}

/** The parts, separated by `, `. */
export function commas(parts: readonly Part[]): Line {
  return joined(
    parts.map((part) => [part]),
    ', ',
  );
}

/** `+3 -2` in colours: what a plan creates and deletes. */
export function driftLine(drift: Readonly<Record<Action, number>>): Line {
  const created: Line[] = drift.create > 0 ? [[toned('good', `+${drift.create}`)]] : [];
  const deleted: Line[] = drift.delete > 0 ? [[toned('bad', `-${drift.delete}`)]] : [];
  return joined([...created, ...deleted], ' ');
}

/** Why each rule leaves an entry alone. */
export const LEAVE_RULE_TEXTS: Readonly<Record<LeaveRule, string>> = {
  unmanaged: 'the ownership leaves it to others',
  protected: 'protected by the policy',
  never_delete: 'the policy forbids deletes',
  duplicate: 'another entry has this name',
};

let collator: Intl.Collator | undefined;

/** Created when it is needed, since it takes longer than loading several files. */
function byLanguage(): Intl.Collator {
  // A fixed language: the order must not depend on the machine.
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator;
}

/** Compares names as people sort them; names that a reader would call equal are in the order of their code points. */
export function compareNaturally(a: string, b: string): number {
  return byLanguage().compare(a, b) || compareCodePoints(a, b);
}

/** The items sorted by name within the order of their kinds. Items of one name keep their order. */
export function sortedNaturally<T extends { readonly kind: string; readonly name: string }>(
  items: readonly T[],
  kinds: readonly string[],
): T[] {
  return items.toSorted(
    (a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || compareNaturally(a.name, b.name),
  );
}

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

/** `4 min ago`, `in 2 h`, `now`. Rounds down, so that `2 h ago` is at least two hours. Any other text is returned unchanged. */
export function relativeTime(iso: string, nowMs: number): string {
  const ms = nowMs - Date.parse(iso);
  if (Number.isNaN(ms)) return iso;
  const [size, unit] = UNITS.find(([each]) => Math.abs(ms) >= each) ?? [];
  if (size === undefined || unit === undefined) return 'now';
  const amount = `${Math.floor(Math.abs(ms) / size)} ${unit}`;
  return ms > 0 ? `${amount} ago` : `in ${amount}`;
}

interface StateText {
  readonly label: string;
  /** null where a state is neither good nor bad. */
  readonly tone: Extract<Tone, 'good' | 'warn' | 'bad'> | null;
}

export const ACCOUNT_STATE_TEXTS: Readonly<Record<AccountStateName, StateText>> = {
  service_invalid: { label: 'invalid service file', tone: 'bad' },
  invalid: { label: 'invalid file', tone: 'bad' },
  failed: { label: 'failed', tone: 'bad' },
  blocked: { label: 'blocked', tone: 'bad' },
  partial: { label: 'partial', tone: 'bad' },
  interrupted: { label: 'interrupted', tone: 'bad' },
  waiting: { label: 'waiting for approval', tone: 'warn' },
  drift: { label: 'drift', tone: null },
  held: { label: 'held', tone: 'warn' },
  paused: { label: 'paused', tone: null },
  approved: { label: 'approved', tone: 'good' },
  running: { label: 'running', tone: null },
  queued: { label: 'queued', tone: null },
  new: { label: 'not run yet', tone: null },
  unknown: { label: 'drift unknown', tone: null },
  converged: { label: 'converged', tone: 'good' },
  removed: { label: 'removed', tone: null },
};
