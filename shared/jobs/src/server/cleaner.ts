import type { ClaimStore } from '../storage/storage.js';

const intervalMs = 1_000;

/** Lets the storage keep its house: counters, partitions, retention. */
export class Cleaner {
  readonly #store: ClaimStore;

  constructor(store: ClaimStore) {
    this.#store = store;
  }

  async runOnce(): Promise<number> {
    await this.#store.maintain();
    return intervalMs;
  }
}
