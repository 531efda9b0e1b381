// The timers of one sandbox, so that closing it can cancel them all.

export class Timers {
  private readonly pending = new Set<NodeJS.Timeout>();

  /** Does the work after `ms`, unless the sandbox is closed earlier. */
  later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.pending.delete(timer);
      work();
    }, ms);
    this.pending.add(timer);
  }

  /** Does not resolve if the sandbox is closed meanwhile: no client is left to answer. */
  sleep(ms: number): Promise<void> {
    return ms <= 0 ? Promise.resolve() : new Promise((resolve) => this.later(ms, resolve));
  }

  clear(): void {
    for (const timer of this.pending) clearTimeout(timer);
    this.pending.clear();
  }
}
