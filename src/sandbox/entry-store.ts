// The entries of one kind of one account, and what a list shows while `listDelayMs` hides changes.

import type { SandboxEntry } from './model.ts';

/** A deleted entry that lists still show. */
interface DeletedEntry {
  readonly entry: SandboxEntry;
  readonly untilMs: number;
}

/** What a list shows, and until when the list stays valid if nothing is written (`Infinity`: no limit). */
export interface ListView {
  readonly entries: readonly SandboxEntry[];
  readonly validUntilMs: number;
}

/** Entries in the order of insertion. `revision` increases with each change. */
export class EntryStore {
  revision = 0;
  private readonly entries = new Map<string, SandboxEntry>();
  /** Lower-cased name → ids. Without it, each create would search all entries for a duplicate. */
  private readonly byName = new Map<string, Set<string>>();
  private readonly hiddenUntilMs = new Map<string, number>();
  private recentDeletes: readonly DeletedEntry[] = [];

  get(id: string): SandboxEntry | undefined {
    return this.entries.get(id);
  }

  all(): SandboxEntry[] {
    return [...this.entries.values()];
  }

  /** Adds an entry. Lists show it from `visibleFromMs` on; without that, at once. */
  add(entry: SandboxEntry, visibleFromMs?: number): void {
    this.entries.set(entry.id, entry);
    this.index(entry);
    if (visibleFromMs !== undefined) this.hiddenUntilMs.set(entry.id, visibleFromMs);
    this.revision += 1;
  }

  /** Deletes an entry. Lists show it until `shownUntilMs`; without that, it disappears at once. */
  remove(id: string, shownUntilMs?: number): void {
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    this.entries.delete(id);
    this.unindex(entry);
    const neverShown = this.hiddenUntilMs.delete(id);
    if (shownUntilMs !== undefined && !neverShown) {
      this.recentDeletes = [...this.recentDeletes, { entry, untilMs: shownUntilMs }];
    }
    this.revision += 1;
  }

  rename(id: string, name: string): SandboxEntry | undefined {
    const entry = this.entries.get(id);
    if (entry === undefined) return undefined;
    const renamed = { ...entry, name };
    this.unindex(entry);
    this.entries.set(id, renamed);
    this.index(renamed);
    this.revision += 1;
    return renamed;
  }

  /** Whether an entry has this name, exactly or ignoring case. */
  hasName(name: string, compare: 'exact' | 'caseless'): boolean {
    const sameName = this.byName.get(name.toLowerCase());
    if (sameName === undefined || compare === 'caseless') return sameName !== undefined;
    return [...sameName].some((id) => this.entries.get(id)?.name === name);
  }

  /** What a list shows at `nowMs`. */
  view(nowMs: number): ListView {
    this.recentDeletes = this.recentDeletes.filter((deleted) => deleted.untilMs > nowMs);
    for (const [id, fromMs] of this.hiddenUntilMs) if (fromMs <= nowMs) this.hiddenUntilMs.delete(id);
    if (this.recentDeletes.length === 0 && this.hiddenUntilMs.size === 0) {
      return { entries: this.all(), validUntilMs: Number.POSITIVE_INFINITY };
    }
    const shown = this.all().filter((entry) => !this.hiddenUntilMs.has(entry.id));
    const changeTimes = [
      ...this.recentDeletes.map((deleted) => deleted.untilMs),
      ...this.hiddenUntilMs.values(),
    ];
    return {
      entries: [...shown, ...this.recentDeletes.map((deleted) => deleted.entry)],
      validUntilMs: changeTimes.reduce((first, each) => Math.min(first, each), Number.POSITIVE_INFINITY),
    };
  }

  private index(entry: SandboxEntry): void {
    const key = entry.name.toLowerCase();
    const sameName = this.byName.get(key);
    if (sameName === undefined) this.byName.set(key, new Set([entry.id]));
    else sameName.add(entry.id);
  }

  private unindex(entry: SandboxEntry): void {
    const key = entry.name.toLowerCase();
    const sameName = this.byName.get(key);
    sameName?.delete(entry.id);
    if (sameName?.size === 0) this.byName.delete(key);
  }
}
