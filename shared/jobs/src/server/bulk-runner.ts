import type { BulkOperations } from '../storage/bulk-operations.js';

/** An operation that no wake-up told of, or whose server died, is taken up after this. */
const intervalMs = 1_000;

/** Carries bulk operations out, a chunk a round. Every server does it; the storage gives each operation to one at a time. */
export class BulkRunner {
  readonly #operations: BulkOperations;

  constructor(operations: BulkOperations) {
    this.#operations = operations;
  }

  async runOnce(): Promise<number> {
    return (await this.#operations.advance()) ? 0 : intervalMs;
  }
}
