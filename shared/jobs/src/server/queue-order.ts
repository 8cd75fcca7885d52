import { shown } from '../job/shown.js';
import { checkName } from '../job/definition.js';

/**
 * The queues to consume: a list in strict order, or an object with a weight from 1 to 1000 for each queue.
 *
 * With `{ critical: 6, default: 3 }`, `critical` is polled first in two of three polls on average, and `default` in one
 * of three. No weighted queue starves.
 */
export type ServerQueues = readonly string[] | Readonly<Record<string, number>>;

/**
 * Decides in which order a server polls its queues: always as listed or, if the queues have weights, in a new random
 * order for each poll.
 */
export class QueueOrder {
  readonly names: readonly string[];
  readonly #weights: ReadonlyMap<string, number> | null;
  readonly #random: () => number;

  /**
   * @param random returns a number from 0 (inclusive) to 1 (exclusive); `Math.random` by default
   * @throws {RangeError} if there is no queue, a name is invalid, or a weight is out of bounds
   */
  constructor(queues: ServerQueues, random: () => number = Math.random) {
    if (typeof queues !== 'object' || queues === null)
      throw new TypeError(
        `queues must be a list of names, or an object with a weight for each name, not ${shown(queues)}`,
      );
    const weights = isList(queues) ? null : new Map(Object.entries(queues));
    this.names = [...new Set(isList(queues) ? queues : Object.keys(queues))];
    this.#weights = weights;
    this.#random = random;
    if (this.names.length === 0) throw new RangeError('queues must name at least one queue');
    for (const name of this.names) checkName('queue', name);
    for (const [name, weight] of weights ?? []) {
      if (Number.isInteger(weight) && weight >= 1 && weight <= 1_000) continue;
      throw new RangeError(
        `The weight of the queue "${name}" must be an integer from 1 to 1000, not ${shown(weight)}`,
      );
    }
  }

  /** The weights in the order of `names`; `null` for a strict order. */
  get weights(): readonly number[] | null {
    const weights = this.#weights;
    return weights && this.names.map((name) => weights.get(name) ?? 1);
  }

  /**
   * Returns the queues in the order in which to poll them next. Weighted queues are drawn at random, as in Sidekiq: at
   * each position, a queue's probability is proportional to its weight. Sorts by exponentially distributed numbers
   * (Efraimidis and Spirakis, “Weighted random sampling with a reservoir”, 2006).
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
