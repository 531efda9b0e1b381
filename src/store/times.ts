// Times in the store are UTC ISO 8601 with milliseconds, which also sorts as text.

export function toIso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function toMs(iso: string): number {
  return Date.parse(iso);
}
