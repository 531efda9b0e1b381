// Compares the expected notices of the one target, derived from the ends of runs with separate rules, with those sent.
import type { RunDetail } from '../../../src/core/journal-reader.ts';

const DAY = 86_400_000;

interface Known {
  readonly state: 'ok' | 'failed' | 'held' | 'drift';
  /** Equal for the same failure. */
  readonly of: string;
  readonly notifiedWallMs: number;
  readonly asOfWallMs: number;
}

export class NoticeWatch {
  readonly counts: Record<string, number> = {};
  private readonly violate: (what: string) => void;
  private readonly known = new Map<string, Known>();
  private readonly delivered = new Map<string, number>();

  constructor(violate: (what: string) => void) {
    this.violate = violate;
  }

  /** A run of a daemon has ended; `types` are its notices in the outbox, in their order. */
  runEnded(detail: RunDetail, pending: string | null, wallMs: number, types: readonly string[]): void {
    for (const type of types) this.counts[type] = (this.counts[type] ?? 0) + 1;
    const expected = this.expect(detail, pending, wallMs);
    if (expected.join() === types.join()) return;
    const { account, status, id } = detail.run;
    this.violate(
      `run ${id} of ${account} (${status}) has the notices [${types.join()}] instead of [${expected.join()}]`,
    );
  }

  arrived(id: string): void {
    this.delivered.set(id, (this.delivered.get(id) ?? 0) + 1);
  }

  /** Checks at the end, when the receiver answers, that every notice arrived once. */
  judge(
    rows: readonly {
      readonly id: string;
      readonly delivered_at: string | null;
      readonly failed_at: string | null;
    }[],
  ): void {
    for (const row of rows) {
      const times = this.delivered.get(row.id) ?? 0;
      if (times > 1) this.violate(`a notice arrived ${String(times)} times`);
      if ((row.delivered_at === null) !== (times === 0)) this.violate('a notice does not match the outbox');
      if (row.delivered_at === null && row.failed_at === null) this.violate('a notice was never sent');
    }
  }

  private expect(detail: RunDetail, pending: string | null, wallMs: number): string[] {
    const { run } = detail;
    const due: string[] = [];
    const applied = run.created + run.deleted > 0;
    if (applied) due.push('applied');
    const now = stateOf(detail, pending);
    const before = this.known.get(run.account);
    const startedWallMs = Date.parse(run.startedAt);
    if (now === null) return due;
    if (before !== undefined && startedWallMs < before.asOfWallMs && before.asOfWallMs <= wallMs) return due;
    const isBetter =
      before !== undefined &&
      (before.state === 'failed'
        ? now.state !== 'failed'
        : before.state !== 'ok' && now.state === 'ok' && !applied);
    if (isBetter) due.push('recovered');
    const isSame = before?.state === now.state && before.of === now.of;
    const isDue = now.state !== 'ok' && (!isSame || wallMs - before.notifiedWallMs >= DAY);
    if (isDue) due.push(now.state);
    this.known.set(run.account, {
      ...now,
      asOfWallMs: startedWallMs,
      notifiedWallMs: isDue || before === undefined ? wallMs : before.notifiedWallMs,
    });
    return due;
  }
}

function stateOf(
  { run, plan, operations }: RunDetail,
  pending: string | null,
): Pick<Known, 'state' | 'of'> | null {
  const waits = pending !== null && pending === run.planDigest && ['planned', 'blocked'].includes(run.status);
  const held = [
    ...(plan?.held ?? []).map(
      ({ action, kind, name, rules }) => `${action} ${kind} ${name} ${lasting(rules)}`,
    ),
    ...operations
      .filter(
        ({ status, name, kind }) =>
          status === 'held' && !(plan?.held ?? []).some((each) => each.name === name && each.kind === kind),
      )
      .map(({ action, kind, name, rule }) => `${action} ${kind} ${name} ${lasting([rule ?? ''])}`),
  ].toSorted();
  switch (run.status) {
    case 'running':
    case 'interrupted':
      return null;
    case 'planned':
      if ((plan?.operations.length ?? 0) > 0)
        return { state: 'drift', of: `${plan?.digest ?? ''} ${String(waits)}` };
      break;
    case 'failed':
    case 'blocked':
      return { state: 'failed', of: `${run.status} ${run.errorCode ?? ''} ${String(waits)}` };
    case 'partial': {
      const undone = operations.filter(({ status }) => status !== 'done' && status !== 'held');
      const names = undone.map(({ action, kind, name }) => `${action} ${kind} ${name}`).toSorted();
      return { state: 'failed', of: `partial ${run.errorCode ?? ''} ${names.join()}` };
    }
    case 'held':
    case 'converged':
      break;
    default:
      return run.status satisfies never;
  }
  return held.length === 0 ? { state: 'ok', of: '' } : { state: 'held', of: held.join('; ') };
}

/** Without the rule that holds in the first run of an account only, which must not count as a change. */
function lasting(rules: readonly string[]): string {
  return rules.filter((rule) => rule !== 'no_history').join();
}
