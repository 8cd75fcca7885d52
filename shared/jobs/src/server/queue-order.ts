import { checkName } from '../job/definition.js';

/**
 * Queues to take jobs from: a list, the first ones first, always; or their weights, from 1 to 1000. With
 * `{ critical: 6, default: 3 }` critical comes first in two of three fetches and default in the third, so that none
 * starves.
 */
export type ServerQueues = readonly string[] | Readonly<Record<string, number>>;

/** In which order a server looks at its queues. */
export class QueueOrder {
  readonly names: readonly string[];
  readonly #weights: ReadonlyMap<string, number> | null;
  readonly #random: () => number;

  /**
   * @param random from 0 up to 1, for tests
   * @throws {RangeError} if there is no queue, a name cannot be a queue's or a weight is out of its bounds
   */
  constructor(queues: ServerQueues, random: () => number = Math.random) {
    const weights = isList(queues) ? null : new Map(Object.entries(queues));
    this.names = [...new Set(isList(queues) ? queues : Object.keys(queues))];
    this.#weights = weights;
    this.#random = random;
    if (this.names.length === 0) throw new RangeError('queues must name at least one queue');
    for (const name of this.names) checkName('queue', name);
    for (const [name, weight] of weights ?? []) {
      if (Number.isInteger(weight) && weight >= 1 && weight <= 1_000) continue;
      throw new RangeError(`The weight of the queue "${name}" is an integer from 1 to 1000, not ${weight}`);
    }
  }

  /**
   * The order of the next fetch. By weight it is drawn as Sidekiq draws it (each next queue with a chance in proportion to
   * its weight), with one exponential variate a queue: Efraimidis and Spirakis, “Weighted random sampling with a
   * reservoir”, 2006.
   */
  next(): readonly string[] {
    const weights = this.#weights;
    if (weights === null || this.names.length === 1) return this.names;
    return this.names
      .map((name) => ({ name, rank: -Math.log(1 - this.#random()) / (weights.get(name) ?? 1) }))
      .toSorted((one, other) => one.rank - other.rank)
      .map(({ name }) => name);
  }
}

function isList(queues: ServerQueues): queues is readonly string[] {
  return Array.isArray(queues);
}
