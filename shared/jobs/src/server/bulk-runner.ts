import type { BulkOperations } from '../storage/bulk-operations.js';

/** Polling interval in milliseconds. Finds operations whose notification was lost or whose server died. */
const intervalMs = 1_000;

/**
 * Runs bulk operations, one chunk per round. Every server runs one of these; the storage assigns each operation to one
 * server at a time.
 */
export class BulkRunner {
  readonly #operations: BulkOperations;

  constructor(operations: BulkOperations) {
    this.#operations = operations;
  }

  async runOnce(): Promise<number> {
    return (await this.#operations.advance()) ? 0 : intervalMs;
  }
}
