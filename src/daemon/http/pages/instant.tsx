// Points in time: exact for programs, short enough for people, always in UTC as everywhere else.
import { instant } from '../../../report/formatting.ts';

/** `brief` leaves seconds and zone away, for tables whose head says UTC. */
export function Instant({ at, brief = false }: { readonly at: string; readonly brief?: boolean }) {
  const text = instant(at);
  return <time datetime={at}>{brief ? text.replace(/:\d\d UTC$/, '') : text}</time>;
}
