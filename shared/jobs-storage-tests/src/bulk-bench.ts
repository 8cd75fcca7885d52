import { type BulkOperation, type BulkRequest, newId, type NewJob } from '@longshore/jobs/storage';
import { type Bench, newJob } from './storage-under-test.js';

/** Starts bulk operations and runs them in place of servers. */
export class BulkBench {
  readonly #bench: Bench;

  constructor(bench: Bench) {
    this.#bench = bench;
  }

  async carryOut(order: BulkRequest): Promise<BulkOperation> {
    return this.carriedOut((await this.#bench.storage.bulk.start(order)).id);
  }

  /** Resolves to the operation when it has ended. */
  async carriedOut(id: string): Promise<BulkOperation> {
    const { bulk } = this.#bench.storage;
    for (;;) {
      const operation = await bulk.find(id);
      if (operation === null) throw new Error(`There is no operation ${id}`);
      if (operation.state !== 'running') return operation;
      await bulk.advance();
    }
  }

  /** Enqueues this many jobs; resolves to their ids. */
  async fill(queue: string, jobs: number, job: Partial<NewJob> = {}): Promise<string[]> {
    const filled = Array.from({ length: jobs }, () => ({ ...newJob(queue), ...job, id: newId() }));
    await this.#bench.storage.enqueuer.enqueue(filled);
    return filled.map(({ id }) => id);
  }
}
