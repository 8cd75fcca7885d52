import type { NewBatch } from '../job/batch.js';
import type { JobKey } from '../job/job-key.js';
import { type KeyHolder, keyName, type KeyResolution } from '../storage/key-resolution.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { KnownIds } from './check-new-jobs.js';

/**
 * What open transactions of the application's database have enqueued. It is stored at the commit; until then, only calls
 * in the same transaction know it.
 */
export class OpenTransactions {
  readonly #jobs = new WeakMap<TransactionClient, TransactionJobs>();

  /** @throws {TypeError} if the transaction has no `afterCommit` */
  of(transaction: TransactionClient): TransactionJobs {
    let jobs = this.#jobs.get(transaction);
    if (jobs === undefined) this.#jobs.set(transaction, (jobs = new TransactionJobs(transaction)));
    return jobs;
  }
}

/** The jobs, batches and keys of one open transaction. */
export class TransactionJobs {
  readonly #atCommit: (act: () => void) => void;
  readonly #queues = new Map<string, string>();
  readonly #batches = new Set<string>();
  readonly #holders = new Map<string, KeyHolder>();

  constructor(transaction: TransactionClient) {
    if (typeof transaction.afterCommit !== 'function')
      throw new TypeError(
        'With the memory storage, enqueueing in a transaction requires one that has afterCommit',
      );
    this.#atCommit = (act) => transaction.afterCommit?.(act);
  }

  /** @param store stores them; called at the commit */
  add({ created, claims }: KeyResolution, batch: NewBatch | null, store: () => void): void {
    for (const { id, queue } of created) this.#queues.set(id, queue);
    if (batch !== null) this.#batches.add(batch.id);
    for (const { queue, key, jobId } of claims)
      this.#holders.set(keyName(queue, key), { jobId, state: null, fingerprint: key.fingerprint });
    this.#atCommit(store);
  }

  /** Returns the job that holds a key in this transaction; `null` if there is none. */
  holderOf(queue: string, key: JobKey): KeyHolder | null {
    return this.#holders.get(keyName(queue, key)) ?? null;
  }

  /** Returns the ids that calls in this transaction know: those in the storage, and those that it has enqueued. */
  beside(stored: KnownIds): KnownIds {
    return {
      queueOf: (id) => this.#queues.get(id) ?? stored.queueOf(id),
      isBatch: (id) => this.#batches.has(id) || stored.isBatch(id),
    };
  }
}
