import { dueAt, readyIn } from '../storage/notification.js';
import { StorageClosedError } from '../job/errors.js';
import { endOf, type NewBatch } from '../job/batch.js';
import type { After, ParentEnd } from '../job/continuation.js';
import { checkNewJob, type JobError, type NewJob } from '../job/job.js';
import { type FinishedState, isFinished } from '../job/state.js';
import {
  withoutUncreatedJobs,
  hasKeys,
  KeyHeldError,
  type KeyResolution,
  noHolders,
  resolveKeys,
} from '../storage/key-resolution.js';
import { checkIncluded, type EnqueueResult, holdersToInclude } from '../storage/enqueuer.js';
import type { TransitionReason } from '../job/transition.js';
import { checkNewJobs, type KnownIds } from './check-new-jobs.js';
import type { Clock } from '../job/clock.js';
import type { TransactionClient } from '../storage/transaction.js';
import { enter, type JobRecord, newRecord, noteReady, replaceContent, toJob } from './job-record.js';
import { BatchRecords } from './batch-records.js';
import { MemoryFirstFailures } from './memory-first-failures.js';
import { MemoryHistory, type MemoryRetention } from './memory-history.js';
import { MemoryKeys } from './memory-keys.js';
import { MemoryNotifications } from './memory-notifications.js';
import { MemoryDependencies } from './memory-dependencies.js';
import { MemoryThroughput } from './memory-throughput.js';
import { OpenTransactions } from './open-transactions.js';
import { type QueueRecord, QueueRecords } from './queue-records.js';

const defaultMaxQueues = 10_000;
const noReplacements: KeyResolution['replacements'] = new Map();

/** All jobs, batches and queues. Other components change the states of jobs only through this class. */
export class MemoryJobs {
  readonly batches = new BatchRecords();
  readonly dependencies = new MemoryDependencies();
  readonly throughput = new MemoryThroughput();
  readonly firstFailures = new MemoryFirstFailures();
  readonly notifications = new MemoryNotifications();
  /** Called when a job has ended. */
  onEnd: (record: JobRecord) => void = () => undefined;
  readonly #clock: Clock;
  #closed = false;
  readonly #records = new Map<string, JobRecord>();
  readonly #queues: QueueRecords;
  readonly #keys = new MemoryKeys((id) => this.#records.get(id)?.state);
  readonly #transactions = new OpenTransactions();
  readonly #history = new MemoryHistory();
  readonly #knownIds: KnownIds = {
    queueOf: (id) => this.#records.get(id)?.queue,
    isBatch: (id) => this.batches.find(id) !== undefined,
  };
  #seq = 0;

  constructor(clock: Clock, maxQueues = defaultMaxQueues) {
    this.#clock = clock;
    this.#queues = new QueueRecords(clock, maxQueues);
  }

  get queues(): ReadonlyMap<string, QueueRecord> {
    return this.#queues.all;
  }

  all(): IterableIterator<JobRecord> {
    return this.#records.values();
  }

  find(id: string): JobRecord | undefined {
    return this.#records.get(id.toLowerCase());
  }

  /**
   * Adds all jobs or none. A job is not created if another job holds one of its keys: depending on `onConflict`, that
   * job stays as it is, gets the new content, or the call throws. The result contains the ids of these other jobs.
   *
   * In a transaction of the application's database, checks the jobs now, and adds them after the commit. No job is
   * rejected then: if a parent has been deleted, it counts as ended (`gone`), and queues are created even beyond their
   * maximum number. Only a job whose key another job has taken since is not created, although the result says so.
   *
   * @param batch the batch to create together with its jobs; `null` by default
   * @throws {TypeError} if the transaction has no `afterCommit`
   */
  add(
    jobs: readonly NewJob[],
    batch: NewBatch | null = null,
    transaction?: TransactionClient,
  ): EnqueueResult {
    for (const job of jobs) checkNewJob(job);
    const now = this.#clock.now();
    this.#queues.requireRoomFor(jobs.map(({ queue }) => queue));
    const open = transaction && this.#transactions.of(transaction);
    const resolution = this.#resolve(
      jobs,
      (queue, key) => open?.holderOf(queue, key) ?? this.#keys.holderOf(queue, key, now),
    );
    const { created, holders } = resolution;
    checkIncluded(jobs, holders, (id) => this.#records.get(id));
    checkNewJobs(created, batch?.id, open?.beside(this.#knownIds) ?? this.#knownIds);
    if (open === undefined) this.#store(resolution, batch, now);
    else open.add(resolution, batch, () => this.#storeLate(resolution, batch));
    const records = holdersToInclude(jobs, holders).flatMap((id) => this.#records.get(id) ?? []);
    const includedHolders = new Map(records.map((record) => [record.id, toJob(record)]));
    return { holders, includedHolders, createdAt: created.length === 0 ? null : new Date(now) };
  }

  #store({ created, claims, replacements }: KeyResolution, batch: NewBatch | null, now: number): void {
    this.#add(created, batch === null ? null : withoutUncreatedJobs(batch, created), now);
    this.#keys.claim(claims, now);
    for (const [id, job] of replacements) this.#replace(id, job);
  }

  /** Stores what a transaction has enqueued, apart from jobs that exist by now, or whose key another job has taken. */
  #storeLate({ created, claims, ...rest }: KeyResolution, batch: NewBatch | null): void {
    const now = this.#clock.now();
    const isFree = ({ queue, keys }: NewJob): boolean =>
      keys?.every((key) => this.#keys.holderOf(queue, key, now) === null) ?? true;
    const jobs = created.filter((job) => !this.#records.has(job.id) && isFree(job));
    for (const { queue } of jobs) this.#queues.getBeyondLimit(queue);
    const ids = new Set(jobs.map(({ id }) => id));
    const held = claims.filter(({ jobId }) => ids.has(jobId) || this.#records.has(jobId));
    this.#store({ ...rest, created: jobs, claims: held }, batch, now);
  }

  /** See {@link MemoryKeys.holderOfAny}. */
  holderOf(job: NewJob): string | null {
    return this.#keys.holderOfAny(job, this.#clock.now());
  }

  #resolve(...[jobs, holderOf]: Parameters<typeof resolveKeys>): KeyResolution {
    if (!jobs.some(hasKeys))
      return { created: jobs, holders: noHolders, replacements: noReplacements, claims: [] };
    try {
      return resolveKeys(jobs, holderOf);
    } catch (error) {
      if (!(error instanceof KeyHeldError)) throw error;
      const { holderId } = error;
      const holder = jobs.find(({ id }) => id === holderId) ?? this.#records.get(holderId);
      throw error.toCaller(holder?.queue);
    }
  }

  #add(jobs: readonly NewJob[], batch: NewBatch | null, now: number): void {
    if (batch !== null) this.batches.add(batch, new Date(now));
    for (const job of jobs) {
      const record = newRecord(job, this.#seq++, now);
      this.#records.set(record.id, record);
      if (record.state === 'enqueued') this.makeReady(record, 'created', now);
      else if (record.state === 'scheduled') this.schedule(record, record.runAt ?? new Date(now), 'created');
      else this.#await(record, job);
    }
  }

  /** Replaces the content of a job that has not finished and is not running. */
  #replace(id: string, job: NewJob): void {
    const record = this.#records.get(id);
    if (record === undefined || record.state === 'processing' || isFinished(record.state)) return;
    const { state } = record;
    if (state === 'enqueued') {
      this.takeOut(record);
      this.#leave(record);
    }
    replaceContent(record, job, this.#clock.now());
    if (state === 'awaiting') return;
    if (record.runAt === null) this.makeReady(record, null);
    else this.schedule(record, record.runAt, null);
  }

  /** Returns a queue. Creates it if it does not exist, or throws a {@link TooManyQueuesError} beyond the limit. */
  queue(name: string): QueueRecord {
    return this.#queues.get(name);
  }

  /** Creates those of these queues that do not exist. See {@link QueueRecords.createAll}. */
  createQueues(names: readonly string[]): void {
    this.#queues.createAll(names);
  }

  retireQueue(name: string): void {
    this.#queues.retire(name);
  }

  /**
   * Deletes idle queues. See {@link QueueRecords.retireIdle}.
   *
   * @param usedQueues queues that count as used even without jobs
   */
  retireIdleQueues(usedQueues: ReadonlySet<string>): void {
    const endedAt = new Map<string, number>();
    for (const { queue, finishedAt } of this.#records.values()) {
      const at = finishedAt?.getTime() ?? Infinity;
      endedAt.set(queue, Math.max(at, endedAt.get(queue) ?? -Infinity));
    }
    this.#queues.retireIdle(
      (name, since) => usedQueues.has(name) || (endedAt.get(name) ?? -Infinity) > since,
    );
  }

  close(): void {
    this.#closed = true;
  }

  /** @throws {StorageClosedError} if the storage was closed */
  requireOpen(): void {
    if (this.#closed) throw new StorageClosedError();
  }

  start(record: JobRecord): void {
    enter(record, 'processing', 'claimed', record.startedAt?.getTime() ?? 0);
    this.queue(record.queue).running++;
  }

  /**
   * Makes a job ready, or blocks it if its concurrency key has no free slot. If cancellation was requested, finishes
   * the job as cancelled instead.
   */
  makeReady(record: JobRecord, reason: TransitionReason | null, now = this.#clock.now()): void {
    if (record.cancelRequestedAt !== null) {
      this.finish(record, 'cancelled');
      return;
    }
    this.#stop(record);
    const { batchId } = record.meta ?? {};
    if (batchId !== undefined && isFinished(record.state)) this.batches.uncount(batchId, record.state);
    if (record.state === 'awaiting') this.dependencies.drop(record.id);
    enter(record, 'enqueued', reason, now);
    noteReady(record, reason, now);
    const { keys } = this.queue(record.queue);
    this.#join(record.queue, keys.acquire(record, now), record);
    this.notifications.notify(dueAt('due', keys.wakesAt(record), now));
  }

  /** Removes a ready or blocked job from its queue. */
  takeOut(record: JobRecord): void {
    const { keys, ready } = this.queue(record.queue);
    if (!keys.removeBlocked(record)) ready.remove(record);
  }

  /**
   * Schedules a job. A time in the past counts as now. If cancellation was requested, finishes the job as cancelled
   * instead.
   */
  schedule(record: JobRecord, runAt: Date, reason: TransitionReason | null): void {
    if (record.cancelRequestedAt !== null) {
      this.finish(record, 'cancelled');
      return;
    }
    this.#stop(record);
    this.#leave(record);
    const now = this.#clock.now();
    if (reason === 'failed') this.#noteFailure(record, now);
    record.runAt = new Date(Math.max(runAt.getTime(), now));
    enter(record, 'scheduled', reason, now);
    this.queue(record.queue);
    this.notifications.notify({ kind: 'due', inMs: record.runAt.getTime() - now });
  }

  finish(record: JobRecord, state: FinishedState): void {
    this.#stop(record);
    this.#leave(record);
    record.finishedAt = new Date(this.#clock.now());
    enter(record, state, state, record.finishedAt.getTime());
    record.cancelRequestedAt = null;
    record.cancelReason = null;
    this.#history.add(record);
    this.throughput.note(record.queue, state, this.#clock.now());
    if (state === 'failed') this.#noteFailure(record, record.finishedAt.getTime());
    this.dependencies.drop(record.id);
    this.#resolveDependents(record.id, state);
    const { batchId } = record.meta ?? {};
    const end = batchId === undefined ? null : this.batches.count(batchId, state, record.finishedAt);
    if (batchId !== undefined && end !== null) this.#resolveDependents(batchId, end);
    this.onEnd(record);
  }

  #noteFailure({ name, error }: JobRecord, nowMs: number): void {
    if (error !== null) this.firstFailures.note(name, error, new Date(nowMs));
  }

  delete(record: JobRecord): void {
    this.#records.delete(record.id);
    this.#history.forget(record);
    this.dependencies.forget(record.id);
  }

  /**
   * Deletes old data:
   *
   * - finished jobs past their retention
   * - the oldest finished jobs and batches in excess of the maximum
   * - keys that are no longer needed
   */
  trim(retention: MemoryRetention): void {
    for (const record of this.#history.old(retention, this.#clock.now())) this.delete(record);
    for (const id of this.batches.trim(retention.maxFinished)) this.dependencies.forget(id);
    for (const { keys } of this.queues.values()) keys.trim(this.#clock.now());
    this.#keys.trim(this.#clock.now());
  }

  /**
   * Adds jobs to the ready jobs of their queue and notifies servers. Jobs that were blocked run after all ready jobs of
   * equal priority, so that they do not delay jobs with other keys. Only `arriving` keeps its sequence number.
   */
  #join(queue: string, jobs: readonly JobRecord[], arriving?: JobRecord): void {
    for (const job of jobs) {
      if (job !== arriving) job.seq = this.#seq++;
      this.queue(queue).ready.add(job);
    }
    if (jobs.length > 0) this.notifications.notify(readyIn(queue));
  }

  /** Makes blocked jobs ready whose keys have tokens again. */
  wakeKeys(): void {
    for (const [queue, { keys }] of this.queues) this.#join(queue, keys.wake(this.#clock.now()));
  }

  #leave(record: JobRecord): void {
    const now = this.#clock.now();
    const { keys } = this.queue(record.queue);
    this.#join(record.queue, keys.release(record, now));
    this.notifications.notify(dueAt('due', keys.wakesAt(record), now));
  }

  /**
   * If the job is running, stops counting it towards the concurrency limit of its queue, and notifies servers if the
   * queue has such a limit. Must be called before the job's state changes.
   */
  #stop(record: JobRecord): void {
    if (record.state !== 'processing') return;
    const queue = this.queue(record.queue);
    queue.running--;
    if (queue.concurrencyLimit !== null)
      queueMicrotask(() => this.notifications.notify(readyIn(record.queue)));
  }

  /**
   * Makes cancelled jobs wait for their parents again. Dependencies on parents that have already ended are resolved
   * immediately. All jobs change their state before the first parent is checked, because some of these jobs can be
   * parents of others.
   */
  awaitAgain(cancelled: ReadonlyMap<JobRecord, After>): void {
    for (const record of cancelled.keys()) {
      const { batchId } = record.meta ?? {};
      if (batchId !== undefined && isFinished(record.state)) this.batches.uncount(batchId, record.state);
      enter(record, 'awaiting', 'retried', this.#clock.now());
      record.finishedAt = null;
      record.error = null;
    }
    for (const [record, after] of cancelled) this.#awaitParents(record, after);
  }

  #await(record: JobRecord, { after, due }: NewJob): void {
    this.queue(record.queue);
    enter(record, 'awaiting', 'created', this.#clock.now());
    if (after === undefined || after === null) return;
    record.delayMs = due !== null && 'inMs' in due ? due.inMs : null;
    this.#awaitParents(record, after);
  }

  /** Makes a job wait for its parents. Parents that have already ended take effect immediately. */
  #awaitParents(record: JobRecord, after: After): void {
    this.dependencies.add(record.id, after);
    for (const parent of after.parents) {
      const end = this.#endOf(parent);
      if (end !== null) this.#resolveDependents(parent, end);
    }
  }

  #endOf(parentId: string): ParentEnd | null {
    const record = this.#records.get(parentId);
    if (record !== undefined) return isFinished(record.state) ? record.state : null;
    const batch = this.batches.find(parentId);
    return batch === undefined ? 'gone' : endOf(batch);
  }

  #resolveDependents(parentId: string, end: ParentEnd): void {
    this.dependencies.parentEnded(parentId, end, {
      release: (dependentId) => this.#release(dependentId),
      cancel: (dependentId, error) => this.#cancel(dependentId, error),
    });
  }

  #release(id: string): void {
    const record = this.#records.get(id);
    if (record?.state !== 'awaiting') return;
    const now = this.#clock.now();
    const { delayMs, runAt } = record;
    const due = delayMs === null ? runAt : new Date(now + delayMs);
    if (due === null || due.getTime() <= now) this.makeReady(record, 'parents-ended');
    else this.schedule(record, due, 'parents-ended');
  }

  #cancel(id: string, error: JobError): void {
    const record = this.#records.get(id);
    if (record?.state !== 'awaiting') return;
    record.error = error;
    this.finish(record, 'cancelled');
  }
}
