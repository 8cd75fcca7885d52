import type { Job, TransactionClient } from '@longshore/jobs';
import {
  hasKeys,
  checkNewJob,
  checkIncluded,
  collectJobs,
  withoutUncreatedJobs,
  type Enqueuer,
  type EnqueueResult,
  enqueueResultOf,
  type Holders,
  holdersToInclude,
  type KeyResolution,
  type LocalServer,
  type NewBatch,
  type NewJob,
  type NewJobs,
  noIncludedHolders,
} from '@longshore/jobs/storage';
import { lockTimeoutOnNodes } from '../citus/settings.js';
import type { Connection } from '../connection/connection.js';
import { arrayOf } from '../connection/array-literal.js';
import { byQueue } from '../connection/by-queue.js';
import type { Database } from '../connection/database.js';
import { repeatedly } from '../connection/repeatedly.js';
import { notificationsOf } from './job-notifications.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import { inSavepoint, afterCommit, type Run, runOf, runOnConnection } from '../connection/run.js';
import { type JobRow, toJob } from '../read/job-row.js';
import type { QueueIdCache, QueueIds } from '../connection/queue-id-cache.js';
import { findJobs } from '../read/find-jobs.sql.js';
import type { Visibility } from '../claim/ready-scans.sql.js';
import type { Notifier } from '../connection/notifier.js';
import { EnqueueBuffer, type WriteJobs } from './enqueue-buffer.js';
import { BulkInsert, createdAtOf } from './bulk-insert.js';
import { DirectInserts } from './direct-inserts.js';
import { insertsOf, maxChunk } from './inserts.js';
import { ReplayableSlices } from './replayable-slices.js';
import { checkParents, visibleQueueIds, waitsForParents, withParentsMarked } from './dependent-inserts.js';
import { UniqueKeys } from './unique-keys.js';
import { hasConcurrencyKey, type Insert } from './inserts.sql.js';

/**
 * How long, in milliseconds, a batch of jobs from several callers waits for a key that another transaction has locked.
 * After that, the jobs are written one by one.
 */
const sharedWaitMs = '250';

/**
 * Writes new jobs: combines concurrent single-job calls into one statement, claims unique keys and notifies servers.
 */
export class PostgresEnqueuer implements Enqueuer {
  readonly #database: Database;
  readonly #clock: DatabaseClock;
  readonly #queues: QueueIdCache;
  readonly #bulk: BulkInsert;
  readonly #direct: DirectInserts;
  readonly #notifier: Notifier;
  readonly #buffers = new Map<string, EnqueueBuffer>();
  readonly #keyedBuffers = new Map<string, EnqueueBuffer>();

  constructor(database: Database, clock: DatabaseClock, queues: QueueIdCache, notifier: Notifier) {
    this.#database = database;
    this.#clock = clock;
    this.#queues = queues;
    this.#bulk = new BulkInsert(database, queues);
    this.#direct = new DirectInserts(database, queues);
    this.#notifier = notifier;
  }

  async enqueue(jobs: NewJobs, transaction?: TransactionClient): Promise<EnqueueResult> {
    const isSliced = Symbol.asyncIterator in jobs;
    if (isSliced && transaction === undefined && this.#database.options.disableGlobalLocks)
      return this.#enqueueSlices(new ReplayableSlices(jobs));
    return this.#enqueueAll(await collectJobs(jobs), transaction);
  }

  async #enqueueAll(jobs: readonly NewJob[], transaction?: TransactionClient): Promise<EnqueueResult> {
    for (const job of jobs) checkNewJob(job);
    const [job, ...others] = jobs;
    if (job !== undefined && others.length === 0 && transaction === undefined)
      return this.#bufferFor(job).add(job);
    return this.#write(jobs, null, transaction);
  }

  /**
   * Writes slices of jobs as they are built. If any job has a unique key, an idempotency key or parents, rolls back,
   * collects all jobs and starts over.
   */
  async #enqueueSlices(kept: ReplayableSlices): Promise<EnqueueResult> {
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
      return this.#enqueueAll(await collectJobs(kept.read()));
    }
  }

  async enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<EnqueueResult> {
    const jobs = jobsOf(batch);
    for (const job of jobs) checkNewJob(job);
    return this.#write(jobs, batch, transaction);
  }

  /**
   * Returns the buffer for a job's queue. Jobs with unique or idempotency keys have separate buffers, because writing
   * them can wait for locks.
   */
  #bufferFor(job: NewJob): EnqueueBuffer {
    const keyed = hasKeys(job);
    const buffers = keyed ? this.#keyedBuffers : this.#buffers;
    let buffer = buffers.get(job.queue);
    if (buffer === undefined) {
      const write: WriteJobs = (jobs) => this.#write(jobs, null, undefined);
      buffer = keyed ? new EnqueueBuffer((jobs) => this.#enqueueSoon(jobs), write) : new EnqueueBuffer(write);
      buffers.set(job.queue, buffer);
    }
    return buffer;
  }

  async #write(
    jobs: readonly NewJob[],
    batch: NewBatch | null,
    transaction: TransactionClient | undefined,
  ): Promise<EnqueueResult> {
    if (jobs.some(hasKeys)) return this.#enqueueWithKeys(jobs, batch, transaction);
    return enqueueResultOf(await this.#enqueue(jobs, batch, transaction));
  }

  async #enqueue(
    jobs: readonly NewJob[],
    batch: NewBatch | null,
    transaction: TransactionClient | undefined,
  ): Promise<Date | null> {
    const run = runOf(this.#database, transaction);
    const queues = this.#queuesIn(transaction);
    if (jobs.some(waitsForParents)) await checkParents(jobs, batch, run, await visibleQueueIds(jobs, queues));
    if (transaction !== undefined) {
      const inserted = await insertEach(await inserts(jobs, batch, 'late', queues), run);
      await this.#notifyAfter(transaction, jobs);
      return inserted;
    }
    const createdAt =
      (await this.#startDirectly(jobs, batch)) ??
      (await repeatedly(async () => this.#insert(await inserts(jobs, batch, 'soon', queues), jobs)));
    if (createdAt !== null) this.#clock.observe(createdAt);
    return createdAt;
  }

  /**
   * Inserts jobs for a server of this process to start immediately. Returns their creation time. Returns `null`, and
   * inserts nothing, if the jobs form a batch, are not all ready, or differ in queue, name, priority or maximum
   * attempts, or if no server can start them.
   */
  async #startDirectly(jobs: readonly NewJob[], batch: NewBatch | null): Promise<Date | null> {
    if (batch !== null || !jobs.every(isReady)) return null;
    const inserted = await this.#direct.insert(jobs);
    if (inserted === null) return null;
    if (!inserted.isStarted) this.#notify(jobs);
    return inserted.createdAt;
  }

  /**
   * Locks all keys first, to avoid deadlocks. Then inserts the jobs whose keys were free, and replaces the content of
   * existing jobs where requested.
   */
  async #enqueueWithKeys(
    jobs: readonly NewJob[],
    batch: NewBatch | null,
    transaction: TransactionClient | undefined,
    lockTimeoutMs?: string,
  ): Promise<EnqueueResult> {
    const outer = this.#queuesIn(transaction);
    // Caches queue ids and records priorities now, so that neither needs another connection while the storage's own
    // transaction is open.
    for (const [queue, group] of byQueue(jobs)) await outer.notePriorities(await outer.idOf(queue), group);
    const visibleIds = await visibleQueueIds(jobs, outer);
    const write = async (run: Run, client?: Connection): Promise<KeyResolution & EnqueueResult> => {
      const queues = client === undefined ? this.#queues.using(run) : this.#queues;
      const resolution = await new UniqueKeys(queues).resolve(jobs, run);
      const created = batch === null ? null : withoutUncreatedJobs(batch, resolution.created);
      if (resolution.created.some(waitsForParents))
        await checkParents(resolution.created, created, run, visibleIds);
      if (client !== undefined) await this.#lockQueues(client, resolution.created);
      const visibility = client === undefined || jobs.length > maxChunk ? 'late' : 'soon';
      const createdAt = await insertEach(await inserts(resolution.created, created, visibility, queues), run);
      const includedHolders = await show(jobs, resolution.holders, run, queues);
      return { ...resolution, includedHolders, createdAt };
    };
    if (transaction !== undefined) {
      const { created, replacements, ...result } = await inSavepoint(
        transaction,
        this.#database.schema,
        write,
      );
      await this.#notifyAfter(transaction, [...created, ...replacements.values()]);
      return result;
    }
    const { created, replacements, ...result } = await this.#database.transaction(
      async (client) => {
        if (lockTimeoutMs !== undefined) await this.#limitWaits(client, lockTimeoutMs);
        return write(runOnConnection(client), client);
      },
      lockTimeoutMs === undefined ? {} : { lock_timeout: lockTimeoutMs },
    );
    this.#notify([...created, ...replacements.values()]);
    return result;
  }

  /** Returns the queues that a caller's transaction sees, on its connection; without one, those in the cache. */
  #queuesIn(transaction: TransactionClient | undefined): QueueIds {
    return transaction === undefined ? this.#queues : this.#queues.within(transaction);
  }

  /**
   * Applies the lock timeout of a transaction to the nodes of a Citus cluster, because keys are locked there. Does
   * nothing without Citus.
   */
  async #limitWaits(client: Connection, lockTimeoutMs: string): Promise<void> {
    if (this.#database.options.distribution === 'citus')
      await client.query(lockTimeoutOnNodes(lockTimeoutMs));
  }

  /** Enqueues jobs with keys. Fails if another transaction keeps one of the keys locked for longer than 250 ms. */
  #enqueueSoon(jobs: readonly NewJob[]): Promise<EnqueueResult> {
    return this.#enqueueWithKeys(jobs, null, undefined, sharedWaitMs);
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
    const buffers = [...this.#buffers.values(), ...this.#keyedBuffers.values()];
    await Promise.all(buffers.map((buffer) => buffer.drained()));
  }

  /**
   * Runs the inserts and notifies servers. A single insert runs without an explicit transaction if global locks are
   * disabled. Returns the jobs' creation time; `null` if there are no inserts.
   */
  async #insert(inserts: Generator<Insert, void>, jobs: readonly NewJob[]): Promise<Date | null> {
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
    for (const each of notifications) this.#notifier.notifyLocally(each);
    return createdAtOf(rows);
  }
}

/**
 * Returns a generator that builds the inserts on demand: first the batch, if there is one, and then one chunk of one
 * queue at a time.
 */
async function inserts(
  jobs: readonly NewJob[],
  batch: NewBatch | null,
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

/**
 * Reads the jobs that already hold keys of new jobs, if the result must include them.
 *
 * @throws {KeyHolderHiddenError} if one of these jobs was deleted or is invisible to the caller
 */
async function show(
  jobs: readonly NewJob[],
  holders: Holders,
  run: Run,
  queues: QueueIds,
): Promise<EnqueueResult['includedHolders']> {
  const ids = holdersToInclude(jobs, holders);
  if (ids.length === 0) return noIncludedHolders;
  const rows = (await run(findJobs, [arrayOf(ids)])) as JobRow[];
  const shown = new Map<string, Job>();
  for (const row of rows) shown.set(row.id, toJob(row, await queues.nameOf(row.queue_id)));
  checkIncluded(jobs, holders, (id) => shown.get(id));
  return shown;
}

function jobsOf({ jobs, callback }: NewBatch): readonly NewJob[] {
  return callback === null ? jobs : [...jobs, callback];
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
