// The text of a line without its tones, for titles and for places where a format allows no mark-up.
import type { Line } from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { instant } from './formatting.ts';

/** The escaped text of a line. Lists are complete. */
export function escapedText(line: Line): string {
  return line
    .map((part) => {
      if (typeof part === 'string') return visible(part);
      if ('code' in part) return visibleName(part.code);
      if ('time' in part) return visible(instant(part.time));
      return 'tone' in part ? escapedText(part.line) : part.list.map(escapedText).join(', ');
    })
    .join('');
}
