import type { BulkOperations } from '../storage/bulk-operations.js';
import { backgroundPollMs } from './background-poll.js';

/**
 * Runs bulk operations in chunks. Every server does this. The storage ensures that only one server at a time works on
 * an operation.
 */
export class BulkRunner {
  readonly #operations: BulkOperations;
  readonly #isNotified: () => boolean;

  constructor(operations: BulkOperations, isNotified: () => boolean) {
    this.#operations = operations;
    this.#isNotified = isNotified;
  }

  async runOnce(): Promise<number> {
    return (await this.#operations.advance()) ? 0 : backgroundPollMs(this.#isNotified());
  }
}
