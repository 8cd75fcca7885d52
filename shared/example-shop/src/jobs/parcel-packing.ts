import type { RunJob } from '@longshore/jobs';

interface Order {
  readonly weights: readonly number[];
  readonly limit: number;
}

/**
 * Starts with the smallest number of parcels that the total weight allows, and adds one parcel at a time until all
 * items fit.
 */
export const run: RunJob<Order> = ({ args: { weights, limit }, log, progress, signal }) => {
  const heaviest = Math.max(0, ...weights);
  if (heaviest > limit)
    throw new RangeError(`An item of ${heaviest} g is too heavy for parcels of ${limit} g`);
  const items = weights.toSorted((left, right) => right - left);
  const total = items.reduce((sum, weight) => sum + weight, 0);
  for (let count = Math.ceil(total / limit); ; count++) {
    const parcels = Array.from({ length: count }, (): number[] => []);
    const rooms = Array.from({ length: count }, () => limit);
    if (pack(items, 0, parcels, rooms, signal)) {
      progress(100);
      return { parcels };
    }
    log.info('too few parcels', { count });
  }
};

/**
 * Packs the items from `index` onwards by backtracking. Parcels with the same remaining capacity are interchangeable,
 * so only the first of them is tried.
 *
 * @returns whether all of the items fit
 */
function pack(
  items: readonly number[],
  index: number,
  parcels: number[][],
  rooms: number[],
  signal: AbortSignal,
): boolean {
  signal.throwIfAborted();
  const weight = items[index];
  if (weight === undefined) return true;
  const tried = new Set<number>();
  for (const [parcel, room] of rooms.entries()) {
    if (room < weight || tried.has(room)) continue;
    tried.add(room);
    rooms[parcel] = room - weight;
    parcels[parcel]?.push(weight);
    if (pack(items, index + 1, parcels, rooms, signal)) return true;
    parcels[parcel]?.pop();
    rooms[parcel] = room;
  }
  return false;
}
