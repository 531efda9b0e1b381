// The timers of one sandbox: closing it leaves none behind.

export class Timers {
  private readonly pending = new Set<NodeJS.Timeout>();

  /** Does the work later, unless the sandbox is closed before. */
  later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.pending.delete(timer);
      work();
    }, ms);
    this.pending.add(timer);
  }

  /** Never resolves when the sandbox is closed meanwhile: nobody is left to answer. */
  sleep(ms: number): Promise<void> {
    return ms <= 0 ? Promise.resolve() : new Promise((resolve) => this.later(ms, resolve));
  }

  clear(): void {
    for (const timer of this.pending) clearTimeout(timer);
    this.pending.clear();
  }
}
