import type { TransactionClient } from '@longshore/jobs';
import {
  type ActionOptions,
  hasKeys,
  checkNewJob,
  collectJobs,
  withoutUncreatedJobs,
  type Enqueuer,
  type EnqueueResult,
  enqueueResultOf,
  type KeyResolution,
  type LocalServer,
  type NewBatch,
  type NewJob,
  type NewJobs,
} from '@longshore/jobs/storage';
import { lockTimeoutOnNodes } from '../connection/session.js';
import type { Connection } from '../connection/connection.js';
import { byQueue } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { repeatedly } from '../connection/repeatedly.js';
import { notificationsOf } from './job-notifications.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import {
  afterCommit,
  inNewTransaction,
  inSavepoint,
  type Run,
  runAlone,
  runInCallersTransaction,
  runOnConnection,
} from '../connection/run.js';
import type { QueueIdCache, QueueIds } from '../queues/queue-id-cache.js';
import type { Visibility } from '../jobs/ready-scans.sql.js';
import type { Notifier } from '../notifications/notifier.js';
import { EnqueueBuffer } from './enqueue-buffer.js';
import { BulkInsert, createdAtOf, insertsOf, maxChunk } from './bulk-insert.js';
import { DirectInserts } from './direct-inserts.js';
import { ReplayableSlices } from './replayable-slices.js';
import {
  checkParents,
  type VisibleQueueIds,
  visibleQueueIds,
  waitsForParents,
  withParentsMarked,
} from './dependent-inserts.js';
import { UniqueKeys } from './unique-keys.js';
import { recordWith } from '../records/audit.js';
import { hasConcurrencyKey, type Insert } from '../jobs/inserts.sql.js';

/**
 * How long, in milliseconds, a batch of jobs from several callers waits for a key that another transaction has locked.
 * After that, the jobs are written one by one.
 */
const sharedWaitMs = '250';

/** Jobs that are written together, all or none, and the batch that they form, if they do. */
interface JobSet {
  readonly jobs: readonly NewJob[];
  readonly batch: NewBatch | null;
}

/**
 * Writes new jobs, and notifies servers. How, depends on the jobs and the transaction:
 *
 * - a single job is written together with those of concurrent calls, see {@link EnqueueBuffer}
 * - many jobs that are still being built are written slice by slice
 * - all others are written as they come: *plain* ones, or those *with keys*, which are claimed first; in a transaction of the
 *   storage, or *within* that of the caller
 */
export class PostgresEnqueuer implements Enqueuer {
  readonly #database: Database;
  readonly #clock: DatabaseClock;
  readonly #queues: QueueIdCache;
  readonly #bulk: BulkInsert;
  readonly #direct: DirectInserts;
  readonly #notifier: Notifier;
  readonly #buffers = new Map<string, EnqueueBuffer>();
  readonly #buffersWithKeys = new Map<string, EnqueueBuffer>();

  constructor(database: Database, clock: DatabaseClock, queues: QueueIdCache, notifier: Notifier) {
    this.#database = database;
    this.#clock = clock;
    this.#queues = queues;
    this.#bulk = new BulkInsert(database, queues);
    this.#direct = new DirectInserts(database, queues);
    this.#notifier = notifier;
  }

  async enqueue(newJobs: NewJobs, transaction?: TransactionClient): Promise<EnqueueResult> {
    const isSliced = Symbol.asyncIterator in newJobs;
    if (isSliced && transaction === undefined && this.#database.options.disableGlobalLocks)
      return this.#writeSlices(new ReplayableSlices(newJobs));
    const jobs = await collectJobs(newJobs);
    for (const job of jobs) checkNewJob(job);
    const [first] = jobs;
    if (first !== undefined && jobs.length === 1 && transaction === undefined)
      return this.#bufferFor(first).add(first);
    return this.#write({ jobs, batch: null }, transaction);
  }

  async enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<EnqueueResult> {
    const { jobs, callback } = batch;
    const all = callback === null ? jobs : [...jobs, callback];
    for (const job of all) checkNewJob(job);
    return this.#write({ jobs: all, batch }, transaction);
  }

  async enqueueAudited(job: NewJob, options: ActionOptions<EnqueueResult> = {}): Promise<EnqueueResult> {
    const { transaction } = options;
    const enqueue = async (within: TransactionClient): Promise<EnqueueResult> => {
      const result = await this.enqueue([job], within);
      await recordWith(runInCallersTransaction(within, this.#database.schema), options)(result);
      return result;
    };
    if (transaction !== undefined) return enqueue(transaction);
    await this.ensureQueue(job.queue);
    return inNewTransaction(this.#database, enqueue);
  }

  #write(set: JobSet, transaction?: TransactionClient): Promise<EnqueueResult> {
    const withKeys = set.jobs.some(hasKeys);
    if (transaction === undefined) return withKeys ? this.#writeWithKeys(set) : this.#writePlain(set);
    return withKeys ? this.#writeWithKeysWithin(transaction, set) : this.#writePlainWithin(transaction, set);
  }

  /**
   * Returns the buffer for a job's queue. Jobs with unique or idempotency keys have separate buffers, because writing
   * them can wait for locks. Together, they wait for a short time only.
   */
  #bufferFor(job: NewJob): EnqueueBuffer {
    const withKeys = hasKeys(job);
    const buffers = withKeys ? this.#buffersWithKeys : this.#buffers;
    let buffer = buffers.get(job.queue);
    if (buffer === undefined) {
      buffer = withKeys
        ? new EnqueueBuffer(
            (jobs) => this.#writeWithKeys({ jobs, batch: null }, sharedWaitMs),
            (jobs) => this.#writeWithKeys({ jobs, batch: null }),
          )
        : new EnqueueBuffer((jobs) => this.#writePlain({ jobs, batch: null }));
      buffers.set(job.queue, buffer);
    }
    return buffer;
  }

  /**
   * Writes slices of jobs as they are built. If any job has a unique key, an idempotency key or parents, rolls back,
   * collects all jobs and starts over.
   */
  async #writeSlices(kept: ReplayableSlices): Promise<EnqueueResult> {
    const hasOnlyPlain = (): boolean => kept.slices.every((slice) => slice.every(isPlain));
    async function* checked(): AsyncGenerator<readonly NewJob[]> {
      for await (const slice of kept.read()) {
        for (const job of slice) checkNewJob(job);
        if (!slice.every(isPlain)) throw new Error('A job has a key or parents');
        yield slice;
      }
    }
    try {
      const createdAt = await this.#bulk.insertPlain(checked);
      if (createdAt !== null) this.#clock.observe(createdAt);
      for (const slice of kept.slices) this.#notify(slice);
      return enqueueResultOf(createdAt);
    } catch (error) {
      if (kept.failure !== null) throw kept.failure.error; // the original error, not the one from the transaction
      if (hasOnlyPlain()) throw error;
      return this.enqueue(await collectJobs(kept.read()));
    }
  }

  /** Inserts jobs without keys, for a server of this process to start at once if one can. */
  async #writePlain(set: JobSet): Promise<EnqueueResult> {
    const { jobs, batch } = set;
    const run = runAlone(this.#database);
    if (jobs.some(waitsForParents))
      await checkParents(jobs, batch, run, await visibleQueueIds(jobs, this.#queues));
    const started = batch === null && jobs.every(isReady) ? await this.#direct.insert(jobs) : null;
    if (started?.isStarted === false) this.#notify(jobs);
    const createdAt = started?.createdAt ?? (await repeatedly(() => this.#insert(set)));
    if (createdAt !== null) this.#clock.observe(createdAt);
    return enqueueResultOf(createdAt);
  }

  /** Inserts jobs without keys within the caller's transaction. */
  async #writePlainWithin(transaction: TransactionClient, set: JobSet): Promise<EnqueueResult> {
    const { jobs, batch } = set;
    const run = runInCallersTransaction(transaction, this.#database.schema);
    const queues = this.#queues.within(transaction);
    if (jobs.some(waitsForParents)) await checkParents(jobs, batch, run, await visibleQueueIds(jobs, queues));
    const createdAt = await insertEach(await insertsOfSet(set, 'late', queues), run);
    await this.#notifyAfter(transaction, jobs);
    return enqueueResultOf(createdAt);
  }

  /**
   * Claims keys and inserts the jobs whose keys were free, in one transaction.
   *
   * @param lockTimeoutMs how long to wait for a key that another transaction has locked; by default, as long as a statement
   *   may take
   */
  async #writeWithKeys(set: JobSet, lockTimeoutMs?: string): Promise<EnqueueResult> {
    const visibleIds = await this.#prepareKeys(set, this.#queues);
    const { created, replacements, ...result } = await this.#database.transaction(
      async (client) => {
        // On a Citus cluster, keys are locked on the nodes.
        if (lockTimeoutMs !== undefined && this.#database.options.distribution === 'citus')
          await client.query(lockTimeoutOnNodes(lockTimeoutMs));
        const run = runOnConnection(client);
        const resolution = await new UniqueKeys(this.#queues).resolve(set.jobs, run);
        await this.#lockQueues(client, resolution.created);
        const visibility = set.jobs.length > maxChunk ? 'late' : 'soon';
        return insertCreated(set, resolution, { run, queues: this.#queues, visibleIds, visibility });
      },
      lockTimeoutMs === undefined ? {} : { lock_timeout: lockTimeoutMs },
    );
    this.#notify([...created, ...replacements.values()]);
    return result;
  }

  /** Claims keys and inserts the jobs whose keys were free, within the caller's transaction. */
  async #writeWithKeysWithin(transaction: TransactionClient, set: JobSet): Promise<EnqueueResult> {
    const visibleIds = await this.#prepareKeys(set, this.#queues.within(transaction));
    const { created, replacements, ...result } = await inSavepoint(
      transaction,
      this.#database.schema,
      async (run) => {
        const queues = this.#queues.using(run);
        const resolution = await new UniqueKeys(queues).resolve(set.jobs, run);
        return insertCreated(set, resolution, { run, queues, visibleIds, visibility: 'late' });
      },
    );
    await this.#notifyAfter(transaction, [...created, ...replacements.values()]);
    return result;
  }

  /**
   * Caches queue ids and records priorities, so that neither needs another connection while the transaction is open. Returns
   * what {@link visibleQueueIds} does.
   */
  async #prepareKeys({ jobs }: JobSet, queues: QueueIds): Promise<VisibleQueueIds> {
    for (const [queue, group] of byQueue(jobs)) await queues.notePriorities(await queues.idOf(queue), group);
    return visibleQueueIds(jobs, queues);
  }

  async #lockQueues(client: Connection, jobs: readonly NewJob[]): Promise<void> {
    if (this.#database.options.disableGlobalLocks) return;
    const ids: number[] = [];
    for (const queue of byQueue(jobs).keys()) ids.push(await this.#queues.idOf(queue)); // already cached
    await this.#database.lockQueues(client, ids);
  }

  /**
   * Lets a server of this process start new jobs directly. Returns a function that removes the server. Does nothing if
   * global locks are enabled, or on a Citus cluster, where the server's row can be on another node.
   */
  startOn(server: LocalServer): () => void {
    const { distribution, disableGlobalLocks } = this.#database.options;
    if (distribution === 'citus' || !disableGlobalLocks) return () => undefined;
    return this.#direct.add(server);
  }

  #notify(jobs: readonly NewJob[]): void {
    for (const notification of notificationsOf(jobs, this.#clock.now())) this.#notifier.notify(notification);
  }

  async #notifyAfter(transaction: TransactionClient, jobs: readonly NewJob[]): Promise<void> {
    const kinds = notificationsOf(jobs, this.#clock.now()).map(({ kind }) => kind);
    await afterCommit(transaction, this.#database.schema, kinds, () => this.#notify(jobs));
  }

  /**
   * Creates the queue if it does not exist, and caches its id, so that enqueueing in a transaction needs no other
   * connection.
   */
  async ensureQueue(queue: string): Promise<void> {
    await this.#queues.idOf(queue);
  }

  /** Resolves when every buffered job has been written or rejected. */
  async drained(): Promise<void> {
    const buffers = [...this.#buffers.values(), ...this.#buffersWithKeys.values()];
    await Promise.all(buffers.map((buffer) => buffer.drained()));
  }

  /**
   * Inserts jobs without keys, and notifies servers. A single statement runs without an explicit transaction if global locks
   * are disabled. Returns the jobs' creation time; `null` if there is nothing to insert.
   */
  async #insert(set: JobSet): Promise<Date | null> {
    const { jobs } = set;
    const inserts = await insertsOfSet(set, 'soon', this.#queues);
    const first = inserts.next();
    if (first.done === true) return null;
    const second = inserts.next();
    if (second.done === true && this.#database.options.disableGlobalLocks)
      return this.#insertOnce(first.value, jobs);
    const createdAt = await this.#database.transactionOnce(async (client) => {
      await this.#lockQueues(client, jobs);
      return this.#bulk.insertAll(prepend(first.value, second, inserts), jobs, client);
    });
    this.#notify(jobs);
    return createdAt;
  }

  /**
   * Runs a single insert and notifies servers. Sends both in one round trip, unless a notification was sent less than
   * 10 ms ago or each transaction must apply the session settings.
   */
  async #insertOnce(insert: Insert, jobs: readonly NewJob[]): Promise<Date | null> {
    const notifications = notificationsOf(jobs, this.#clock.now());
    const notification = this.#notifier.takeStatement(notifications);
    if (notification === null) {
      const rows = await this.#database.query(insert.statement, insert.values);
      this.#notify(jobs);
      return createdAtOf(rows);
    }
    const rows = await this.#database.queryAndThen(insert, notification);
    for (const notification of notifications) this.#notifier.notifyLocally(notification);
    return createdAtOf(rows);
  }
}

/**
 * Returns a generator that builds the inserts on demand: first the batch, if there is one, and then one chunk of one
 * queue at a time.
 */
async function insertsOfSet(
  { jobs, batch }: JobSet,
  visibility: Visibility,
  queues: QueueIds,
): Promise<Generator<Insert, void>> {
  const groups: [queueId: number, jobs: NewJob[]][] = [];
  for (const [queue, group] of byQueue(await withParentsMarked(jobs))) {
    const queueId = await queues.idOf(queue);
    await queues.notePriorities(queueId, group);
    groups.push([queueId, group]);
  }
  return insertsOf(groups, { jobs, batch, visibility });
}

/** How {@link insertCreated} reads and writes. */
interface Within {
  readonly run: Run;
  readonly queues: QueueIds;
  readonly visibleIds: VisibleQueueIds;
  readonly visibility: Visibility;
}

/** Inserts the jobs whose keys were free, and reads the jobs that hold the others if the result must include them. */
async function insertCreated(
  { jobs, batch }: JobSet,
  resolution: KeyResolution,
  { run, queues, visibleIds, visibility }: Within,
): Promise<KeyResolution & EnqueueResult> {
  const { created, holders } = resolution;
  const set = { jobs: created, batch: batch === null ? null : withoutUncreatedJobs(batch, created) };
  if (created.some(waitsForParents)) await checkParents(created, set.batch, run, visibleIds);
  const createdAt = await insertEach(await insertsOfSet(set, visibility, queues), run);
  return {
    ...resolution,
    includedHolders: await new UniqueKeys(queues).included(jobs, holders, run),
    createdAt,
  };
}

async function insertEach(inserts: Iterable<Insert>, run: Run): Promise<Date | null> {
  let createdAt: Date | null = null;
  for (const { statement, values } of inserts)
    createdAt = createdAtOf(await run(statement, values)) ?? createdAt;
  return createdAt;
}

function* prepend(
  first: Insert,
  second: IteratorResult<Insert, void>,
  rest: Iterable<Insert>,
): Generator<Insert, void> {
  yield first;
  if (second.done !== true) yield second.value;
  yield* rest;
}

/** Returns whether a job is ready as soon as it is inserted. */
function isReady(job: NewJob): boolean {
  return job.due === null && isPlain(job) && !hasConcurrencyKey(job);
}

function isPlain(job: NewJob): boolean {
  return !hasKeys(job) && !waitsForParents(job);
}
