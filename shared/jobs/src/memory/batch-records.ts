import { type Batch, endOf, type NewBatch, progressOf } from '../job/batch.js';
import type { FinishedState } from '../job/state.js';
import { firstIdOf } from '../job/id.js';
import type { BatchFilter, BatchListQuery } from '../storage/batches.js';

/** The batches, with counts of how their jobs ended. */
export class BatchRecords {
  /** Batches by id, in order of creation. */
  readonly #batches = new Map<string, Batch>();

  add({ id, name, jobs, callback }: NewBatch, now: Date): void {
    const counts = { total: jobs.length, done: 0, failed: 0, cancelled: 0 };
    this.#batches.set(id, {
      id,
      name,
      ...counts,
      ...progressOf(counts),
      callbackId: callback?.id ?? null,
      callbackWhen: callback?.after?.when ?? null,
      createdAt: now,
      finishedAt: jobs.length === 0 ? now : null,
    });
  }

  find(id: string): Batch | undefined {
    return this.#batches.get(id.toLowerCase());
  }

  matching({ state = [], name = [], ...times }: BatchFilter = {}): Batch[] {
    const { createdAfter, createdBefore, finishedAfter, finishedBefore } = times;
    const [first, next] = [
      createdAfter && firstIdOf(createdAfter),
      createdBefore && firstIdOf(createdBefore),
    ];
    const isFinishTimed = finishedAfter !== undefined || finishedBefore !== undefined;
    return [...this.#batches.values()].filter(
      (batch) =>
        (state.length === 0 || state.includes(batch.state)) &&
        (name.length === 0 || (batch.name !== null && name.includes(batch.name))) &&
        (first === undefined || batch.id >= first) &&
        (next === undefined || batch.id < next) &&
        !(isFinishTimed && batch.finishedAt === null) &&
        (finishedAfter === undefined || (batch.finishedAt ?? 0) >= finishedAfter) &&
        (finishedBefore === undefined || (batch.finishedAt ?? 0) < finishedBefore),
    );
  }

  list({ filter, order = 'newest', limit, offset = 0, after }: BatchListQuery): Batch[] {
    const direction = order === 'newest' ? -1 : 1;
    const comes = (left: string, right: string): number => (left < right ? -direction : direction);
    return this.matching(filter)
      .filter(({ id }) => after === undefined || (id !== after && comes(id, after) > 0))
      .toSorted((left, right) => comes(left.id, right.id))
      .slice(offset, offset + limit)
      .map((batch) => ({ ...batch }));
  }

  /**
   * Counts a finished job in a batch. Returns the final state of the batch if all of its jobs have now finished.
   * Returns `null` if some have not, or if the batch does not exist.
   */
  count(id: string, state: FinishedState, now: Date): FinishedState | null {
    return this.#add(id, state, 1, now);
  }

  /**
   * Undoes {@link count} for a finished job that is being retried.
   *
   * @param state the final state under which the job was counted
   */
  uncount(id: string, state: FinishedState): void {
    this.#add(id, state, -1, null);
  }

  /**
   * Deletes the oldest finished batches, so that at most `max` finished batches remain. Returns the ids of the deleted
   * batches.
   */
  trim(max: number): string[] {
    const finished = [...this.#batches.values()].filter(({ finishedAt }) => finishedAt !== null);
    const gone = finished.slice(0, Math.max(0, finished.length - max)).map(({ id }) => id);
    for (const id of gone) this.#batches.delete(id);
    return gone;
  }

  #add(id: string, state: FinishedState, jobs: 1 | -1, now: Date | null): FinishedState | null {
    const batch = this.#batches.get(id);
    if (batch === undefined) return null;
    batch[state] += jobs;
    Object.assign(batch, progressOf(batch));
    const end = endOf(batch);
    batch.finishedAt = end === null ? null : now;
    return end;
  }
}
