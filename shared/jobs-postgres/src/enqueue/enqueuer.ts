import type { Job, TransactionClient } from '@longshore/jobs';
import {
  hasKeys,
  checkNewJob,
  checkShown,
  createdOf,
  type Enqueuer,
  type EnqueueResult,
  enqueueResultOf,
  type Holders,
  holdersToShow,
  type KeyResolution,
  type NewBatch,
  type NewJob,
  noneShown,
} from '@longshore/jobs/storage';
import type pg from 'pg';
import { arrayOf } from '../connection/array-literal.js';
import { byQueue } from '../connection/by-queue.js';
import { type Database, repeatedly } from '../connection/database.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import { atOnce, onceCommitted, type Run, runOf, runOn } from '../connection/run.js';
import { type JobRow, toJob } from '../read/job-row.js';
import type { QueueIdCache } from '../connection/queue-id-cache.js';
import type { Settings } from '../connection/settings.js';
import { findJobs } from '../read/find-jobs.sql.js';
import { noteGaps, selectLastPlace, type Visibility } from '../claim/ready-scans.sql.js';
import type { Notifier } from '../connection/notifier.js';
import { EnqueueBuffer, type WriteJobs } from './enqueue-buffer.js';
import { insertsOf, maxChunk } from './inserts.js';
import { checkParents, visibleQueueIds, waitsForParents, withFollowed } from './dependent-inserts.js';
import { UniqueKeys } from './unique-keys.js';
import { type CreatedRow, hasConcurrencyKey, type Insert } from './inserts.sql.js';

/**
 * How long, in milliseconds, jobs of several callers that are written together wait for a key locked by another transaction.
 */
const sharedWaitMs = '250';

/** Writes new jobs: coalesces concurrent single-job calls into one statement, claims unique keys and notifies servers. */
export class PostgresEnqueuer implements Enqueuer {
  readonly #database: Database;
  readonly #clock: DatabaseClock;
  readonly #queues: QueueIdCache;
  readonly #keys: UniqueKeys;
  readonly #notifier: Notifier;
  readonly #buffers = new Map<string, EnqueueBuffer>();
  readonly #keyedBuffers = new Map<string, EnqueueBuffer>();

  constructor(database: Database, clock: DatabaseClock, queues: QueueIdCache, notifier: Notifier) {
    this.#database = database;
    this.#clock = clock;
    this.#queues = queues;
    this.#keys = new UniqueKeys(queues);
    this.#notifier = notifier;
  }

  async enqueue(jobs: readonly NewJob[], transaction?: TransactionClient): Promise<EnqueueResult> {
    for (const job of jobs) checkNewJob(job);
    const [job, ...others] = jobs;
    if (job !== undefined && others.length === 0 && transaction === undefined)
      return this.#bufferFor(job).add(job);
    return this.#write(jobs, null, transaction);
  }

  async enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<EnqueueResult> {
    const jobs = jobsOf(batch);
    for (const job of jobs) checkNewJob(job);
    return this.#write(jobs, batch, transaction);
  }

  /** Returns the buffer of a job's queue; jobs with keys have separate buffers, because they may wait for locks. */
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
    if (jobs.some(waitsForParents))
      await checkParents(jobs, batch, run, await visibleQueueIds(jobs, this.#queues));
    if (transaction !== undefined) {
      const inserted = await insertEach(await this.#inserts(jobs, batch, 'late'), run);
      await onceCommitted(transaction, () => this.#notify(jobs));
      return inserted;
    }
    const createdAt = await repeatedly(async () =>
      this.#insert(await this.#inserts(jobs, batch, 'soon'), jobs),
    );
    if (createdAt !== null) this.#clock.noticed(createdAt);
    this.#notify(jobs);
    return createdAt;
  }

  /** Locks all keys first, to avoid deadlocks, and then inserts the jobs whose keys were free. */
  async #enqueueWithKeys(
    jobs: readonly NewJob[],
    batch: NewBatch | null,
    transaction: TransactionClient | undefined,
    settings: Settings = {},
  ): Promise<EnqueueResult> {
    // Cached before a connection is in use.
    for (const [queue, group] of byQueue(jobs))
      await this.#queues.notePriorities(await this.#queues.idOf(queue), group);
    const visibleIds = await visibleQueueIds(jobs, this.#queues);
    const write = async (run: Run, client?: pg.ClientBase): Promise<KeyResolution & EnqueueResult> => {
      const resolution = await this.#keys.resolve(jobs, run);
      const created = batch === null ? null : createdOf(batch, resolution.created);
      if (resolution.created.some(waitsForParents))
        await checkParents(resolution.created, created, run, visibleIds);
      if (client !== undefined) await this.#lockQueues(client, resolution.created);
      const visibility = client === undefined || jobs.length > maxChunk ? 'late' : 'soon';
      const createdAt = await insertEach(await this.#inserts(resolution.created, created, visibility), run);
      return { ...resolution, shown: await this.#show(jobs, resolution.holders, run), createdAt };
    };
    if (transaction !== undefined) {
      const { created, replacements, ...result } = await atOnce(transaction, write);
      await onceCommitted(transaction, () => this.#notify([...created, ...replacements.values()]));
      return result;
    }
    const { created, replacements, ...result } = await this.#database.transaction(
      (client) => write(runOn(client), client),
      settings,
    );
    this.#notify([...created, ...replacements.values()]);
    return result;
  }

  /** Reads the existing jobs that the result must include, because they hold keys that new jobs asked for. */
  async #show(jobs: readonly NewJob[], holders: Holders, run: Run): Promise<EnqueueResult['shown']> {
    const ids = holdersToShow(jobs, holders);
    if (ids.length === 0) return noneShown;
    const rows = (await run(findJobs, [arrayOf(ids)])) as JobRow[];
    const shown = new Map<string, Job>();
    for (const row of rows) shown.set(row.id, toJob(row, await this.#queues.nameOf(row.queue_id)));
    checkShown(jobs, holders, (id) => shown.get(id));
    return shown;
  }

  /** Enqueues jobs with keys, but fails if one of the keys stays locked by another transaction for longer than 250 ms. */
  #enqueueSoon(jobs: readonly NewJob[]): Promise<EnqueueResult> {
    return this.#enqueueWithKeys(jobs, null, undefined, { lock_timeout: sharedWaitMs });
  }

  async #lockQueues(client: pg.ClientBase, jobs: readonly NewJob[]): Promise<void> {
    if (this.#database.options.disableGlobalLocks) return;
    const ids: number[] = [];
    for (const queue of byQueue(jobs).keys()) ids.push(await this.#queues.idOf(queue)); // already cached
    await this.#database.lockQueues(client, ids);
  }

  #notify(jobs: readonly NewJob[]): void {
    for (const queue of notified(jobs)) this.#notifier.notify(queue);
    if (jobs.some(hasConcurrencyKey)) this.#notifier.notify(null);
  }

  /** Ensures that a queue exists and its id is cached, so that enqueuing in a transaction needs no other connection. */
  async know(queue: string): Promise<void> {
    await this.#queues.idOf(queue);
  }

  /** Resolves when everything enqueued so far has been written or rejected. */
  async drained(): Promise<void> {
    const buffers = [...this.#buffers.values(), ...this.#keyedBuffers.values()];
    await Promise.all(buffers.map((buffer) => buffer.drained()));
  }

  /** Yields inserts lazily, each for one chunk of one queue. */
  async #inserts(
    jobs: readonly NewJob[],
    batch: NewBatch | null,
    visibility: Visibility,
  ): Promise<Generator<Insert, void>> {
    const groups: [queueId: number, jobs: NewJob[]][] = [];
    for (const [queue, group] of byQueue(withFollowed(jobs))) {
      const queueId = await this.#queues.idOf(queue);
      await this.#queues.notePriorities(queueId, group);
      groups.push([queueId, group]);
    }
    return insertsOf(groups, { jobs, batch, visibility });
  }

  async #insert(inserts: Generator<Insert, void>, jobs: readonly NewJob[]): Promise<Date | null> {
    const first = inserts.next();
    if (first.done === true) return null;
    const second = inserts.next();
    if (second.done === true && this.#database.options.disableGlobalLocks)
      return createdAtOf(await this.#database.query(first.value.statement, first.value.values));
    return this.#database.transactionOnce(async (client) => {
      await this.#lockQueues(client, jobs);
      const isLong = jobs.length > maxChunk;
      const seq = isLong ? await lastPlace(client) : null;
      let writing = write(client, first.value);
      let createdAt: Date | null = null;
      for (let next: IteratorResult<Insert, void> = second; next.done !== true; next = inserts.next()) {
        createdAt = (await writing) ?? createdAt;
        writing = write(client, next.value);
        await handedOver(); // so that the next chunk is built while Postgres processes this one
      }
      createdAt = (await writing) ?? createdAt;
      if (seq !== null) await this.#noteGaps(client, jobs, seq);
      return createdAt;
    });
  }

  /** Records gaps for a long bulk insert: its jobs only become visible when it commits, after scans have passed their places. */
  async #noteGaps(client: pg.ClientBase, jobs: readonly NewJob[], seq: string): Promise<void> {
    for (const [queue, group] of byQueue(jobs)) {
      const priorities = arrayOf([...new Set(group.map(({ priority }) => priority))]);
      await client.query({ ...noteGaps, values: [await this.#queues.idOf(queue), priorities, seq] });
    }
  }
}

function jobsOf({ jobs, followUp }: NewBatch): readonly NewJob[] {
  return followUp === null ? jobs : [...jobs, followUp];
}

async function insertEach(inserts: Iterable<Insert>, run: Run): Promise<Date | null> {
  let createdAt: Date | null = null;
  for (const { statement, values } of inserts)
    createdAt = createdAtOf(await run(statement, values)) ?? createdAt;
  return createdAt;
}

/** Returns the transaction's time, which every insert of jobs reports once. */
function createdAtOf(rows: readonly unknown[]): Date | null {
  return (rows as readonly CreatedRow[])[0]?.created_at ?? null;
}

async function lastPlace(client: pg.ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ seq: string }>(selectLastPlace);
  return rows[0]?.seq ?? null;
}

function write(client: pg.ClientBase, { statement, values }: Insert): Promise<Date | null> {
  const writing = client.query<CreatedRow>({ ...statement, values }).then(({ rows }) => createdAtOf(rows));
  writing.catch(() => undefined); // it may fail before it is awaited
  return writing;
}

/** Resolves after the socket has had a chance to send its pending writes. */
function handedOver(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Returns the notifications that these jobs require. */
function notified(jobs: readonly NewJob[]): Set<string | null> {
  return new Set(jobs.map((job) => (job.due === null && !waitsForParents(job) ? job.queue : null)));
}
