// What binds a run: a pause of all accounts, the account's file and its pause. If one of the last two changes meanwhile, the
// run sends nothing more.
import type { Warning } from '../core/catalog.ts';
import type { Pause, PauseOfAll } from '../core/operator.ts';
import { hasDeletes, type Plan } from '../core/plan.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { AccountSettings } from '../core/settings.ts';
import type { Observation } from './observe.ts';
import type { Run } from './request.ts';

const READ_AGAIN_MS = 60_000;

/** Resolves with why nothing more may be sent, or null: as of now with `again`, otherwise as of the last minute. */
export type ChangeWatch = (again?: boolean) => Promise<string | null>;

/** Equal for settings that let a run do the same. */
export function settingsDigest({ configDigest, mode, token }: AccountSettings): string {
  return JSON.stringify([configDigest, mode, token]);
}

/** Watches the file and the pause of the account from now on. */
export async function watchChanges({ request, deps }: Pick<Run, 'request' | 'deps'>): Promise<ChangeWatch> {
  const { settings, trigger } = request;
  const pauseNow = async (): Promise<Pause | null> => (await deps.journal.accountState(settings.name)).pause;
  // An operator may run a paused account. Any other run begins only without a pause, so a pause came since.
  const isByHand = trigger === 'cli' || trigger === 'manual';
  const before = isByHand ? await pauseNow() : null;
  const changeNow = async (): Promise<string | null> => {
    const digest = await deps.currentDigest(settings);
    if (digest === null)
      return 'the account’s file is invalid or cannot be read now, so nothing more is sent. Run `rolecall validate`; the next run decides again';
    if (digest !== settingsDigest(settings))
      return 'the account’s file changed since the run began, so nothing more is sent; the next run decides by the new file';
    const pause = await pauseNow();
    if (pause === null || JSON.stringify(pause) === JSON.stringify(before)) return null;
    return `the account was paused by ${pause.by} since the run began, so nothing more is sent. Run \`rolecall resume ${settings.name}\` to continue`;
  };
  let isOld = (): boolean => true;
  let latest: Promise<string | null> = Promise.resolve(null);
  return (again = isOld()) => {
    if (again) [isOld, latest] = [growOld(deps.clock), changeNow()];
    return latest;
  };
}

/** Whether a minute has passed since this call, by either clock: one can be set back, the other stops in sleep. */
export function growOld(clock: Clock): () => boolean {
  const [nowMs, steadyMs] = [clock.nowMs(), clock.steadyMs()];
  return () => Math.max(clock.nowMs() - nowMs, clock.steadyMs() - steadyMs) >= READ_AGAIN_MS;
}

/** The pause of a renamed account, which the daemon notices only in the first run under the new name. */
export async function inheritedPause(
  { request, deps }: Run,
  { formerName }: Observation,
): Promise<Warning[]> {
  const { settings, trigger } = request;
  if (formerName === null || ['cli', 'manual', 'approval'].includes(trigger)) return [];
  if ((await deps.journal.accountState(settings.name)).pause === null) return [];
  const message = `“${formerName}” was paused, so this account is paused too; nothing was written. Run \`rolecall resume ${settings.name}\` to continue`;
  return [{ code: 'paused', message }];
}

/** The pause of all accounts, if it forbids a part of the plan. An approval of a blocked plan may lead to any other plan. */
export async function bindingPause(
  { request, deps }: Pick<Run, 'request' | 'deps'>,
  plan: Plan,
): Promise<PauseOfAll | null> {
  const isBlocked = plan.status === 'blocked';
  if (request.accept?.has('pause') === true || (plan.operations.length === 0 && !isBlocked)) return null;
  const pause = await deps.journal.pauseOfAll(deps.clock.nowMs());
  return pause?.onlyDeletes === true && !isBlocked && !hasDeletes(plan) ? null : pause;
}
