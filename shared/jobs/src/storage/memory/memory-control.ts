import { isDeepStrictEqual } from 'node:util';
import { checkTime, mostCountedAttempts } from '../../job/bounds.js';
import type { Claim, Job } from '../../job/job.js';
import { checkQueueLimits, type QueueLimits } from '../../job/queue-limits.js';
import { isFinished } from '../../job/state.js';
import { keepStoredDigits } from '../../job/stored-digits.js';
import type { BatchControlResult } from '../batch-store.js';
import type { Batch } from '../../job/batch.js';
import type { Server } from '../../job/job.js';
import type {
  ControlOptions,
  ControlResult,
  JobControl,
  QueueDeletion,
  QueueSettings,
} from '../job-control.js';
import { checkEditedBytes, checkEdits, type JobContent, type JobEditing } from '../job-editing.js';
import type { ServerControl, ServerControlResult } from '../server-control.js';
import type { TransactionClient } from '../transaction.js';
import { holds, type JobRecord, toJob } from './job-record.js';
import { MemoryReader } from './memory-reader.js';
import { refuseTransaction } from './refuse-transaction.js';

/** What operators do. */
export class MemoryControl extends MemoryReader implements JobControl, JobEditing, ServerControl {
  async cancelJob(id: string, options?: ControlOptions): Promise<ControlResult> {
    return this.#cancel(id, options);
  }

  #cancel(id: string, options?: ControlOptions): ControlResult {
    return this.#control(id, options, (record) => {
      if (record.state === 'done' || record.state === 'failed') return 'illegal';
      if (record.state === 'cancelled' || record.cancelRequested) return 'unchanged';
      if (record.state === 'processing') {
        record.cancelRequested = true;
        this.jobs.wake(null);
      } else {
        if (record.state === 'enqueued') this.jobs.takeOut(record);
        this.jobs.finish(record, 'cancelled');
      }
      return 'changed';
    });
  }

  async cancelBatch(
    id: string,
    { check, transaction }: ControlOptions<Batch> = {},
  ): Promise<BatchControlResult> {
    refuseTransaction(transaction);
    const batch = this.jobs.batches.find(id);
    if (batch === undefined) return { outcome: 'unknown' };
    check?.({ ...batch });
    if (batch.finishedAt !== null) return { outcome: 'illegal', batch: { ...batch } };
    const ids = [...this.jobs.all()].filter(({ meta }) => meta?.batchId === batch.id).map((job) => job.id);
    const results = ids.map((jobId) => this.#cancel(jobId));
    const changed = results.some((result) => result.outcome === 'ok' && result.changed);
    return { outcome: 'ok', batch: { ...batch }, changed };
  }

  async retryJob(id: string, options?: ControlOptions): Promise<ControlResult> {
    return this.#control(id, options, (record) => {
      if (record.state === 'enqueued' || record.state === 'processing') return 'unchanged';
      if (record.state !== 'failed' && record.state !== 'cancelled') return 'illegal';
      if (record.serverId !== null && record.startedAt !== null && record.error !== null) {
        record.pastAttempts.push({
          attempt: record.attempt,
          outcome: record.state,
          serverId: record.serverId,
          startedAt: record.startedAt,
          finishedAt: record.finishedAt,
          error: record.error,
        });
      }
      record.attempt = Math.min(record.attempt, mostCountedAttempts - 1);
      record.maxAttempts = Math.max(record.maxAttempts, record.attempt + 1);
      record.finishedAt = null;
      record.serverId = null;
      record.startedAt = null;
      this.jobs.makeReady(record, 'retried');
      return 'changed';
    });
  }

  async runJob(id: string, options?: ControlOptions): Promise<ControlResult> {
    return this.#control(id, options, (record) => {
      if (record.state === 'enqueued' || record.state === 'processing') return 'unchanged';
      if (record.state !== 'scheduled' && record.state !== 'awaiting') return 'illegal';
      this.jobs.makeReady(record, 'run');
      return 'changed';
    });
  }

  async rescheduleJob(id: string, runAt: Date): Promise<ControlResult> {
    return this.#control(id, {}, (record) => {
      if (record.state !== 'scheduled') return 'illegal';
      checkTime('runAt', runAt);
      this.jobs.schedule(record, runAt, 'rescheduled');
      return 'changed';
    });
  }

  async deleteJob(id: string, options?: ControlOptions): Promise<ControlResult> {
    return this.#control(id, options, (record) => {
      if (!isFinished(record.state)) return 'illegal';
      this.jobs.delete(record);
      return 'changed';
    });
  }

  async pauseQueue(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean> {
    refuseTransaction(transaction);
    const queue = this.jobs.queue(name);
    if (!isAsSeen(queue, seen)) return false;
    queue.pausedAt ??= new Date(this.clock.now());
    return true;
  }

  async resumeQueue(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean> {
    refuseTransaction(transaction);
    const queue = this.jobs.queue(name);
    if (!isAsSeen(queue, seen)) return false;
    queue.pausedAt = null;
    this.jobs.wake(name);
    return true;
  }

  async deleteQueue(name: string, seen?: QueueSettings): Promise<QueueDeletion> {
    const queue = this.jobs.queues.get(name);
    if (queue === undefined) return 'unknown';
    if ([...this.jobs.all()].some((record) => record.queue === name && !isFinished(record.state)))
      return 'holds-jobs';
    if (this.servers.list().some(({ queues }) => queues.includes(name))) return 'served';
    if (!isAsSeen(queue, seen)) return 'changed';
    this.jobs.retireQueue(name);
    return 'deleted';
  }

  async limitQueue(name: string, limits: QueueLimits, seen?: QueueSettings): Promise<boolean> {
    const { concurrencyLimit, rateLimit } = checkQueueLimits(limits);
    const queue = this.jobs.queue(name);
    if (!isAsSeen(queue, seen)) return false;
    if (concurrencyLimit !== undefined) queue.concurrencyLimit = concurrencyLimit;
    if (rateLimit !== undefined) queue.rateLimit = rateLimit;
    this.jobs.wake(name);
    return true;
  }

  async editJobs(
    ids: readonly string[],
    decide: (current: ReadonlyMap<string, Job>) => ReadonlyMap<string, JobContent>,
  ): Promise<Job[]> {
    const records = ids.flatMap((id) => this.jobs.find(id) ?? []);
    checkEditedBytes(
      ids,
      records.reduce((bytes, { args }) => bytes + Buffer.byteLength(args), 0),
    );
    const current = new Map(records.map((record) => [record.id, toJob(record)]));
    const edits = decide(current);
    checkEdits(current, edits);
    return records.flatMap((record) => {
      const content = edits.get(record.id);
      if (content === undefined) return [];
      this.#edit(record, content);
      return [toJob(record)];
    });
  }

  /** A ready job leaves its line, and its key, as if it were to wait; it has waited since then if it stays in its queue. */
  #edit(record: JobRecord, { queue, priority, args, runAt }: JobContent): void {
    const { state, queue: from, runAt: before, readyAt } = record;
    const ready = state === 'enqueued' && runAt?.getTime() === before?.getTime();
    if (state === 'enqueued') {
      this.jobs.takeOut(record);
      this.jobs.schedule(record, runAt ?? new Date(this.clock.now()), null);
    }
    Object.assign(record, { queue, priority, args: keepStoredDigits(record.args, args), runAt });
    if (ready) {
      this.jobs.makeReady(record, null);
      if (queue === from) record.readyAt = readyAt;
    } else if (state !== 'awaiting' && runAt !== null) this.jobs.schedule(record, runAt, null);
  }

  async quietServer(id: string, options?: ControlOptions<Server>): Promise<ServerControlResult> {
    return this.servers.request(id, 'quiet', options);
  }

  async stopServer(id: string, options?: ControlOptions<Server>): Promise<ServerControlResult> {
    return this.servers.request(id, 'stop', options);
  }

  async cancellations(claims: readonly Claim[]): Promise<Claim[]> {
    return claims.filter((claim) => {
      const record = this.jobs.find(claim.jobId);
      return holds(record, claim) && record.cancelRequested;
    });
  }

  #control(
    id: string,
    { check, transaction }: ControlOptions = {},
    change: (record: JobRecord) => 'changed' | 'unchanged' | 'illegal',
  ): ControlResult {
    refuseTransaction(transaction);
    const record = this.jobs.find(id);
    if (record === undefined) return { outcome: 'unknown' };
    check?.(toJob(record));
    const result = change(record);
    const job = toJob(record);
    return result === 'illegal'
      ? { outcome: 'illegal', job }
      : { outcome: 'ok', job, changed: result === 'changed' };
  }
}

function isAsSeen(queue: QueueSettings, seen: QueueSettings | undefined): boolean {
  if (seen === undefined) return true;
  const settings = ({ pausedAt, concurrencyLimit, rateLimit }: QueueSettings): object => ({
    paused: pausedAt !== null,
    concurrencyLimit,
    rateLimit,
  });
  return isDeepStrictEqual(settings(queue), settings(seen));
}
