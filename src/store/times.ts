// Converts the times in the store: UTC in ISO 8601 with milliseconds, so that their order as text is their order in time.

export function toIso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function toMs(iso: string): number {
  return Date.parse(iso);
}
