// Detects an empty list of a kind in which rolecall created an entry: another create could be a duplicate.
import type { DesiredCatalog, ObservedCatalog, Warning } from './catalog.ts';
import { KINDS } from './catalog.ts';
import { missingDesiredNames } from './diff.ts';
import type { History } from './history.ts';

/**
 * Warns of a kind whose list is empty, in which names must be created, and of which no list has ever shown an entry that
 * rolecall created. Null when there is none.
 */
export function unshownCreates(
  desired: DesiredCatalog,
  observed: ObservedCatalog,
  history: History,
): Warning | null {
  const missing = missingDesiredNames(desired, observed, history);
  for (const kind of KINDS) {
    if (observed[kind].length > 0 || !missing.some((each) => each.kind === kind)) continue;
    const [unshown] = history.neverListed.filter((entry) => entry.kind === kind);
    if (unshown === undefined) continue;
    return {
      code: 'suspicious_list',
      message: `the service lists no ${kind}s, although it confirmed the create of “${unshown.name}” (${unshown.remoteId}), which no list has shown yet; its list may be wrong, and creating more would make duplicates. Nothing is written until a list shows that entry. If the ${kind} was deleted by hand, run \`apply --accept-shrink\``,
      kind,
    };
  }
  return null;
}
