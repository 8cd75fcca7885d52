import {
  type ContinuationCondition,
  type EnqueuedBatch,
  type EnqueuedJob,
  HandedOver,
  type JobClient,
  type JobReader,
  type TransactionClient,
} from '@longshore/jobs';
import { apiError, Existing } from '@longshore/resources';
import type { Static } from 'typebox';
import type { Backlog } from './backlog.js';
import { type JobItem, type NewJobItem, toJobItem } from './job-item.js';
import { asked, askedAll, type JobOrders } from './job-orders.js';

type Item = Static<typeof JobItem>;
type NewJobBody = Static<typeof NewJobItem>;

/** More jobs than this do not go in one request. */
const most = 10_000;

export interface NewBatchBody {
  readonly name?: string;
  readonly jobs: readonly NewJobBody[];
  readonly followUp?: NewJobBody;
  readonly followUpWhen?: ContinuationCondition;
}

/**
 * Enqueues what bodies of requests ask for. What concurrent requests ask for goes into the storage in one write, and each is
 * answered when that is durable, without another look at the storage.
 */
export class JobEnqueuer {
  readonly #client: JobClient;
  readonly #storage: Pick<JobReader, 'findJob'>;
  readonly #orders: JobOrders;
  readonly #backlog: Backlog;

  constructor(client: JobClient, storage: Pick<JobReader, 'findJob'>, orders: JobOrders, backlog: Backlog) {
    this.#client = client;
    this.#storage = storage;
    this.#orders = orders;
    this.#backlog = backlog;
  }

  /**
   * The job, or the one that holds its key.
   *
   * @param transaction in which to do it, of the caller's
   * @throws {ApiError} 422 for what the platform refuses, 42901 if the queue is full, 40901 if the job with its key was deleted
   */
  async one(body: NewJobBody, transaction?: TransactionClient): Promise<Item | Existing<Item>> {
    const order = this.#orders.orderOf(body);
    await this.#backlog.admit([order]);
    const { definition, args, options } = order;
    const enqueued = await asked(() =>
      this.#client.enqueue(definition, args, { ...options, ...(transaction && { transaction }) }),
    );
    const item = await this.#itemOf(enqueued, transaction);
    return enqueued.created ? item : new Existing(item);
  }

  /** All or none; throws as {@link one} does, but if the job with a key was deleted the others are enqueued. */
  async many(bodies: readonly NewJobBody[], transaction?: TransactionClient): Promise<Item[]> {
    if (bodies.length > most) throw apiError(42202, `the body must have at most ${most} jobs`);
    const enqueued = await askedAll(bodies, this.#orders, async (orders) => {
      await this.#backlog.admit(orders);
      return this.#client.enqueueMany(orders, transaction);
    });
    return Promise.all(enqueued.map((job, index) => this.#itemOf(job, transaction, `[${index}]: `)));
  }

  /** All or nothing; throws as {@link one} does. */
  async batch(
    { jobs, followUp, ...rest }: NewBatchBody,
    transaction?: TransactionClient,
  ): Promise<EnqueuedBatch> {
    const bodies = followUp === undefined ? jobs : [...jobs, followUp];
    const at = (index: number): string => (index < jobs.length ? `jobs[${index}]` : 'followUp');
    return askedAll(
      bodies,
      this.#orders,
      async (orders) => {
        await this.#backlog.admit(orders);
        const [last] = orders.slice(jobs.length);
        const batch = { ...rest, jobs: orders.slice(0, jobs.length), ...(last && { followUp: last }) };
        return this.#client.enqueueBatch(batch, transaction);
      },
      at,
    );
  }

  async #itemOf(enqueued: EnqueuedJob, transaction: TransactionClient | undefined, at = ''): Promise<Item> {
    const stored = enqueued instanceof HandedOver ? enqueued.asStored() : null;
    const job = stored ?? (await this.#storage.findJob(enqueued.id, transaction));
    if (job !== null) return toJobItem(job);
    throw apiError(
      40901,
      `${at}The job ${enqueued.id} came with the same key before, and has been deleted since`,
    );
  }
}
