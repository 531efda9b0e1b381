// A time relative to now. The absolute time is in its title and in its `datetime`.
import { visible } from '../../../report/escape-invisible.ts';
import { instant, relativeTime } from '../../../report/formatting.ts';

/** `4 min ago`. */
export function RelativeInstant({ at, nowMs }: { readonly at: string; readonly nowMs: number }) {
  return (
    <time datetime={visible(at)} title={visible(instant(at))}>
      {visible(relativeTime(at, nowMs))}
    </time>
  );
}
