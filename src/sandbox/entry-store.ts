// The entries of one kind of one account, and what a list shows while `listDelayMs` hides changes.

import type { SandboxEntry } from './model.ts';

interface StoredEntry {
  readonly entry: SandboxEntry;
  /** When lists begin to show it. */
  readonly fromMs: number;
  /** When lists stop showing it; undefined while it exists. */
  readonly untilMs?: number;
}

/** Entries in the order of insertion. `revision` increases with each change. */
export class EntryStore {
  revision = 0;
  private readonly stored = new Map<string, StoredEntry>();

  get(id: string): SandboxEntry | undefined {
    const found = this.stored.get(id);
    return found?.untilMs === undefined ? found?.entry : undefined;
  }

  all(): SandboxEntry[] {
    return [...this.stored.values()].flatMap(({ entry, untilMs }) => (untilMs === undefined ? [entry] : []));
  }

  /** Adds an entry. Lists show it from `fromMs` on. */
  add(entry: SandboxEntry, fromMs = 0): void {
    this.stored.set(entry.id, { entry, fromMs });
    this.revision += 1;
  }

  /** Deletes an entry. Lists that have shown it show it until `untilMs`. */
  remove(id: string, untilMs = 0): void {
    const found = this.stored.get(id);
    if (found === undefined) return;
    if (found.fromMs <= Date.now() && untilMs > 0) this.stored.set(id, { ...found, untilMs });
    else this.stored.delete(id);
    this.revision += 1;
  }

  /** Replaces an entry, which lists show as long as before. */
  replace(entry: SandboxEntry): void {
    this.stored.set(entry.id, { fromMs: 0, ...this.stored.get(entry.id), entry });
    this.revision += 1;
  }

  /** Whether an entry has this name, exactly or ignoring case. */
  hasName(name: string, compare: 'exact' | 'caseless'): boolean {
    const caseless = name.toLowerCase();
    return this.all().some((entry) =>
      compare === 'exact' ? entry.name === name : entry.name.toLowerCase() === caseless,
    );
  }

  /** What a list shows at `nowMs`. `isSettled`: it shows the same until the next change. */
  view(nowMs: number): { readonly entries: readonly SandboxEntry[]; readonly isSettled: boolean } {
    let isSettled = true;
    const entries: SandboxEntry[] = [];
    for (const [id, { entry, fromMs, untilMs }] of this.stored) {
      if (untilMs !== undefined && untilMs <= nowMs) this.stored.delete(id);
      else if (fromMs <= nowMs) entries.push(entry);
      isSettled &&= fromMs <= nowMs && (untilMs === undefined || untilMs <= nowMs);
    }
    return { entries, isSettled };
  }
}
