import { checkTime, maxCountedAttempts } from '../job/bounds.js';
import type { Claim, Job } from '../job/job.js';
import { isFinished } from '../job/state.js';
import { keepStoredDigits } from '../job/stored-digits.js';
import type { Clock } from '../storage/clock.js';
import { checkEditedBytes, checkEdits, type JobContent } from '../storage/job-content.js';
import type { ControlOptions, ControlResult, JobControl } from '../storage/job-control.js';
import { holds, type JobRecord, toJob } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';
import { refuseTransaction } from './refuse-transaction.js';

/** Carries out operators' actions on single jobs. */
export class MemoryControl implements JobControl {
  readonly #jobs: MemoryJobs;
  readonly #clock: Clock;

  constructor(jobs: MemoryJobs, clock: Clock) {
    this.#jobs = jobs;
    this.#clock = clock;
  }

  async cancel(id: string, options?: ControlOptions): Promise<ControlResult> {
    return this.#control(id, options, (record) => {
      if (record.state === 'done' || record.state === 'failed') return 'illegal';
      if (record.state === 'cancelled' || record.cancelRequested) return 'unchanged';
      if (record.state === 'processing') {
        record.cancelRequested = true;
        this.#jobs.notify(null);
      } else {
        if (record.state === 'enqueued') this.#jobs.takeOut(record);
        this.#jobs.finish(record, 'cancelled');
      }
      return 'changed';
    });
  }

  async retry(id: string, options?: ControlOptions): Promise<ControlResult> {
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
      record.attempt = Math.min(record.attempt, maxCountedAttempts - 1);
      record.maxAttempts = Math.max(record.maxAttempts, record.attempt + 1);
      record.finishedAt = null;
      record.serverId = null;
      record.startedAt = null;
      this.#jobs.makeReady(record, 'retried');
      return 'changed';
    });
  }

  async run(id: string, options?: ControlOptions): Promise<ControlResult> {
    return this.#control(id, options, (record) => {
      if (record.state === 'enqueued' || record.state === 'processing') return 'unchanged';
      if (record.state !== 'scheduled' && record.state !== 'awaiting') return 'illegal';
      this.#jobs.makeReady(record, 'run');
      return 'changed';
    });
  }

  async reschedule(id: string, runAt: Date): Promise<ControlResult> {
    return this.#control(id, {}, (record) => {
      if (record.state !== 'scheduled') return 'illegal';
      checkTime('runAt', runAt);
      this.#jobs.schedule(record, runAt, 'rescheduled');
      return 'changed';
    });
  }

  async delete(id: string, options?: ControlOptions): Promise<ControlResult> {
    return this.#control(id, options, (record) => {
      if (!isFinished(record.state)) return 'illegal';
      this.#jobs.delete(record);
      return 'changed';
    });
  }

  async edit(
    ids: readonly string[],
    decide: (current: ReadonlyMap<string, Job>) => ReadonlyMap<string, JobContent>,
  ): Promise<Job[]> {
    const records = ids.flatMap((id) => this.#jobs.find(id) ?? []);
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

  /**
   * Takes a ready job out of its queue and releases its slot before the change. If it stays in its queue, it keeps
   * the time at which it became ready.
   */
  #edit(record: JobRecord, { queue, priority, args, runAt }: JobContent): void {
    const { state, queue: from, runAt: before, readyAt } = record;
    const ready = state === 'enqueued' && runAt?.getTime() === before?.getTime();
    if (state === 'enqueued') {
      this.#jobs.takeOut(record);
      this.#jobs.schedule(record, runAt ?? new Date(this.#clock.now()), null);
    }
    Object.assign(record, { queue, priority, args: keepStoredDigits(record.args, args), runAt });
    if (ready) {
      this.#jobs.makeReady(record, null);
      if (queue === from) record.readyAt = readyAt;
    } else if (state !== 'awaiting' && runAt !== null) this.#jobs.schedule(record, runAt, null);
  }

  async cancellations(claims: readonly Claim[]): Promise<Claim[]> {
    return claims.filter((claim) => {
      const record = this.#jobs.find(claim.jobId);
      return holds(record, claim) && record.cancelRequested;
    });
  }

  #control(
    id: string,
    { check, transaction }: ControlOptions = {},
    change: (record: JobRecord) => 'changed' | 'unchanged' | 'illegal',
  ): ControlResult {
    refuseTransaction(transaction);
    const record = this.#jobs.find(id);
    if (record === undefined) return { outcome: 'unknown' };
    check?.(toJob(record));
    const result = change(record);
    const job = toJob(record);
    return result === 'illegal'
      ? { outcome: 'illegal', job }
      : { outcome: 'ok', job, changed: result === 'changed' };
  }
}
