import { type BulkRequest, statesOfRequest } from '@longshore/jobs/storage';
import { statesOf } from '../jobs/job-conditions.sql.js';
import type { Cursor, Position } from '../records/bulk-operations.sql.js';
import { type Place, placesOf, placeTables } from '../jobs/job-moves.sql.js';

const firstId = '00000000-0000-0000-0000-000000000000';
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Determines the order in which a bulk operation visits the jobs that its filter might match. */
export class BulkWalk {
  readonly #places: readonly Place[];
  readonly #first: Position;
  readonly #repeats: boolean;
  /** The position at which the walk ends in each table. */
  readonly last: Position;

  /** @param queueIds ids of the queues that the filter names; `undefined` if it names none */
  constructor(request: BulkRequest, queueIds: readonly number[] | undefined) {
    const possible = statesOf(request.filter);
    const states = new Set(statesOfRequest(request).filter((state) => possible.includes(state)));
    const visited = placesOf[request.action].filter((place) => states.has(placeTables[place].state));
    this.#places = queueIds?.length === 0 ? [] : visited;
    // A running job can return to a table that the walk has already visited. Cancelling therefore repeats the walk
    // until nothing changes.
    this.#repeats = request.action === 'cancel';
    this.#first = {
      queueId: (queueIds ?? [1]).reduce((least, id) => Math.min(least, id), Infinity),
      id: firstId,
    };
    this.last = {
      queueId: (queueIds ?? [2_147_483_647]).reduce((most, id) => Math.max(most, id), -Infinity),
      id: lastId,
    };
  }

  /** The first position; `null` if there is nothing to visit. */
  get start(): Cursor | null {
    const [place] = this.#places;
    return place === undefined ? null : { ...this.#first, place, changed: 0 };
  }

  /**
   * Returns the position after a step; `null` at the end of the walk.
   *
   * @param cursor the position before the step
   * @param end the position that the step reached in the table; `null` at the end of the table
   * @param changed number of jobs that the step changed
   */
  next(cursor: Cursor, end: Position | null, changed: number): Cursor | null {
    const total = cursor.changed + changed;
    if (end !== null) return { ...end, place: cursor.place, changed: total };
    const following = this.#places[this.#places.indexOf(cursor.place) + 1];
    if (following !== undefined) return { ...this.#first, place: following, changed: total };
    return this.#repeats && total > 0 ? this.start : null;
  }
}

/** Returns the ids that the filter selects, in lower case; `null` if it does not select by id. */
export function selectionOf({ filter: { id = [] } }: BulkRequest): ReadonlySet<string> | null {
  return id.length === 0 ? null : new Set(id.map((jobId) => jobId.toLowerCase()));
}
