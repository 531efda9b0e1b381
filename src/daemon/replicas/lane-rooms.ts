// How many runs may start of the accounts of each base address, so that a slow service delays only its own accounts.
import type { LaneRoom } from '../../core/turn-store.ts';
import { addressLimit } from '../run-queue.ts';

/** The addresses with room, those with the fewest runs first. `loads` is the number of runs of each address. */
export function laneRooms(
  lanes: ReadonlySet<string>,
  loads: ReadonlyMap<string, number>,
  maxRuns: number,
): { readonly rooms: readonly LaneRoom[]; readonly free: number } {
  const free = maxRuns - [...loads.values()].reduce((sum, load) => sum + load, 0);
  if (free <= 0) return { rooms: [], free: 0 };
  const limit = addressLimit(maxRuns, lanes.size);
  const loadOf = (lane: string): number => loads.get(lane) ?? 0;
  const open = [...lanes].filter((lane) => loadOf(lane) < limit).toSorted((a, b) => loadOf(a) - loadOf(b));
  const share = Math.ceil(free / Math.max(1, open.length));
  return { free, rooms: open.map((lane) => ({ lane, room: Math.min(share, limit - loadOf(lane)) })) };
}
