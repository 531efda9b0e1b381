// The entries of one kind of one account, and what a list of them shows at a moment.

import type { SandboxEntry } from './model.ts';

interface Ghost {
  readonly entry: SandboxEntry;
  readonly untilMs: number;
}

/** What a list shows, and until when that holds if nothing is written (`Infinity`: for ever). */
export interface ShelfView {
  readonly entries: readonly SandboxEntry[];
  readonly validUntilMs: number;
}

/** Entries in the order of insertion. `revision` moves with every change. */
export class Shelf {
  revision = 0;
  private readonly entries = new Map<string, SandboxEntry>();
  /** Lower-cased name → ids: uniqueness is judged without walking the shelf. */
  private readonly byName = new Map<string, Set<string>>();
  private readonly hiddenUntilMs = new Map<string, number>();
  private ghosts: readonly Ghost[] = [];

  get(id: string): SandboxEntry | undefined {
    return this.entries.get(id);
  }

  all(): SandboxEntry[] {
    return [...this.entries.values()];
  }

  /** Adds it; lists show it from `visibleFromMs` on (absent: at once). */
  add(entry: SandboxEntry, visibleFromMs?: number): void {
    this.entries.set(entry.id, entry);
    this.index(entry);
    if (visibleFromMs !== undefined) this.hiddenUntilMs.set(entry.id, visibleFromMs);
    this.revision += 1;
  }

  /** Takes it away; lists still show it until `shownUntilMs` (absent: no longer). */
  remove(id: string, shownUntilMs?: number): void {
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    this.entries.delete(id);
    this.unindex(entry);
    const neverShown = this.hiddenUntilMs.delete(id);
    if (shownUntilMs !== undefined && !neverShown) {
      this.ghosts = [...this.ghosts, { entry, untilMs: shownUntilMs }];
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

  /** Whether the name is taken, exactly or whatever the case. */
  holds(name: string, compare: 'exact' | 'caseless'): boolean {
    const twins = this.byName.get(name.toLowerCase());
    if (twins === undefined || compare === 'caseless') return twins !== undefined;
    return [...twins].some((id) => this.entries.get(id)?.name === name);
  }

  /** What a list shows at this moment. */
  view(nowMs: number): ShelfView {
    this.ghosts = this.ghosts.filter((ghost) => ghost.untilMs > nowMs);
    for (const [id, fromMs] of this.hiddenUntilMs) if (fromMs <= nowMs) this.hiddenUntilMs.delete(id);
    if (this.ghosts.length === 0 && this.hiddenUntilMs.size === 0) {
      return { entries: this.all(), validUntilMs: Number.POSITIVE_INFINITY };
    }
    const shown = this.all().filter((entry) => !this.hiddenUntilMs.has(entry.id));
    const turns = [...this.ghosts.map((ghost) => ghost.untilMs), ...this.hiddenUntilMs.values()];
    return {
      entries: [...shown, ...this.ghosts.map((ghost) => ghost.entry)],
      validUntilMs: turns.reduce((first, each) => Math.min(first, each), Number.POSITIVE_INFINITY),
    };
  }

  private index(entry: SandboxEntry): void {
    const key = entry.name.toLowerCase();
    const twins = this.byName.get(key);
    if (twins === undefined) this.byName.set(key, new Set([entry.id]));
    else twins.add(entry.id);
  }

  private unindex(entry: SandboxEntry): void {
    const key = entry.name.toLowerCase();
    const twins = this.byName.get(key);
    twins?.delete(entry.id);
    if (twins?.size === 0) this.byName.delete(key);
  }
}
