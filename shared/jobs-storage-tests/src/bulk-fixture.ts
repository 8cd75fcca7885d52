import { type BulkOperation, type BulkRequest, newId, type NewJob } from '@longshore/jobs/storage';
import { type Fixture, newJob } from './storage-under-test.js';

/** Starts bulk operations and carries them out without servers. */
export class BulkFixture {
  readonly #fixture: Fixture;

  constructor(fixture: Fixture) {
    this.#fixture = fixture;
  }

  async carryOut(request: BulkRequest): Promise<BulkOperation> {
    return this.carriedOut((await this.#fixture.storage.bulk.start(request)).id);
  }

  /** Advances bulk operations until the one with this id has ended, and resolves to that one. */
  async carriedOut(id: string): Promise<BulkOperation> {
    const { bulk } = this.#fixture.storage;
    for (;;) {
      const operation = await bulk.find(id);
      if (operation === null) throw new Error(`There is no operation ${id}`);
      if (operation.finishedAt !== null) return operation;
      await bulk.advance();
    }
  }

  /** Enqueues `jobs` jobs in the queue, each with the properties in `job`, and resolves to their ids. */
  async fill(queue: string, jobs: number, job: Partial<NewJob> = {}): Promise<string[]> {
    const filled = Array.from({ length: jobs }, () => ({ ...newJob(queue), ...job, id: newId() }));
    await this.#fixture.storage.enqueuer.enqueue(filled);
    return filled.map(({ id }) => id);
  }
}
