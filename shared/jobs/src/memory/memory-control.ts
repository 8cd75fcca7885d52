import { checkTime, maxCountedAttempts } from '../job/bounds.js';
import { checkName } from '../job/definition.js';
import type { After } from '../job/continuation.js';
import type { Claim, Job } from '../job/job.js';
import { keepStoredDigits } from '../job/exact-number.js';
import { storableReason } from '../storage/audit-log.js';
import type { Clock } from '../job/clock.js';
import {
  checkEditedBytes,
  checkEdits,
  checkRetried,
  type DecideEdits,
  type EditOptions,
  type JobContent,
  metaWithTags,
} from '../storage/job-content.js';
import {
  type BulkAction,
  type CancelOptions,
  type ControlResult,
  effectOf,
  type JobControl,
  type JobControlOptions,
  type JobTypeOptions,
  type JobTypes,
  type PausedType,
  type PauseTypeOptions,
  type RetryOptions,
} from '../storage/job-control.js';
import { hasLease, type JobRecord, keepAttempt, toJob } from './job-record.js';
import type { MemoryAuditLog } from './memory-audit.js';
import type { MemoryJobs } from './memory-jobs.js';
import { parentIdsOf, skippedBecauseOf } from './skipped-jobs.js';
import { refuseTransaction } from './refuse-transaction.js';
import { compareTexts } from '@longshore/edge';
import { readyIn, dueAt } from '../storage/notification.js';
import { checkPause, isPausedAt, isSamePause, pauseSince } from '../job/pause.js';

export class MemoryControl implements JobControl {
  readonly #jobs: MemoryJobs;
  readonly #clock: Clock;
  readonly #audit: MemoryAuditLog;

  constructor(jobs: MemoryJobs, clock: Clock, audit: MemoryAuditLog) {
    this.#jobs = jobs;
    this.#clock = clock;
    this.#audit = audit;
  }

  async cancel(id: string, options: CancelOptions = {}): Promise<ControlResult> {
    return this.#control(id, 'cancel', options, (record) => {
      const { state } = record;
      if (record.cancelRequestedAt !== null) return 'unchanged';
      if (state === 'processing')
        return () => {
          record.cancelRequestedAt = new Date(this.#clock.now());
          record.cancelReason = storableReason(options.reason);
          this.#jobs.notifications.notify({ kind: 'cancel' });
        };
      return () => {
        if (state === 'enqueued') this.#jobs.takeOut(record);
        this.#jobs.finish(record, 'cancelled');
      };
    });
  }

  async retry(id: string, options: RetryOptions = {}): Promise<ControlResult> {
    const { dependents = false, ignoreDependencies = false, visibleQueues = null, content } = options;
    return this.#control(id, 'retry', options, (record) => {
      checkRetried(content);
      const edit = (): void => {
        if (content === undefined) return;
        this.#jobs.createQueues(content.queue === undefined ? [] : [content.queue]);
        this.#edit(record, { ...contentOf(record), ...content });
      };
      const state = record.state === 'failed' ? 'failed' : 'cancelled';
      const after = this.#jobs.dependencies.unmetOf(record.id);
      const skipped = dependents
        ? this.#unmetOf(skippedBecauseOf(parentIdsOf(record), this.#jobs, visibleQueues))
        : new Map<JobRecord, After>();
      const change = (): void => {
        if (after !== undefined && !ignoreDependencies && state === 'cancelled' && record.attempt === 0) {
          this.#jobs.awaitAgain(new Map([[record, after], ...skipped]));
          edit();
          return;
        }
        if (record.serverId !== null && record.startedAt !== null && record.error !== null) {
          keepAttempt(record, {
            attempt: record.attempt,
            outcome: state,
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
        edit();
        this.#jobs.awaitAgain(skipped);
      };
      return { change, restored: skipped.size };
    });
  }

  /** Returns the unmet dependencies of each of these jobs. Leaves out jobs without unmet dependencies. */
  #unmetOf(records: readonly JobRecord[]): Map<JobRecord, After> {
    return new Map(
      records.flatMap((record) => {
        const after = this.#jobs.dependencies.unmetOf(record.id);
        return after === undefined ? [] : [[record, after]];
      }),
    );
  }

  async run(id: string, options?: JobControlOptions): Promise<ControlResult> {
    return this.#control(id, 'run', options, (record) => () => this.#jobs.makeReady(record, 'run'));
  }

  async reschedule(id: string, runAt: Date, options?: JobControlOptions): Promise<ControlResult> {
    const time = checkTime('runAt', runAt);
    return this.#control(
      id,
      'reschedule',
      options,
      (record) => () => this.#jobs.schedule(record, time, 'rescheduled'),
    );
  }

  async rename(id: string, toName: string, options?: JobControlOptions): Promise<ControlResult> {
    checkName('job', toName);
    const renameTo = (record: JobRecord) => () => {
      record.name = toName;
      if (record.state === 'enqueued') this.#jobs.notifications.notify(readyIn(record.queue));
    };
    return this.#control(id, 'rename', options, (record) =>
      record.name === toName ? 'unchanged' : renameTo(record),
    );
  }

  async delete(id: string, options?: JobControlOptions): Promise<ControlResult> {
    return this.#control(id, 'delete', options, (record) => () => this.#jobs.delete(record));
  }

  async edit(ids: readonly string[], decide: DecideEdits, options: EditOptions = {}): Promise<Job[]> {
    refuseTransaction(options.transaction);
    const { visibleQueues = null } = options;
    const records = ids
      .flatMap((id) => this.#jobs.find(id) ?? [])
      .filter(({ queue }) => visibleQueues?.includes(queue) ?? true);
    checkEditedBytes(
      records.map(({ id }) => id),
      records.reduce(
        (bytes, { args, result }) => bytes + Buffer.byteLength(args) + Buffer.byteLength(result),
        0,
      ),
    );
    const current = new Map(records.map((record) => [record.id, toJob(record)]));
    const versions = records.map(versionOf);
    const edits = await decide(current);
    if (records.some((record, index) => versionOf(record) !== versions[index]))
      return this.edit(ids, decide, options);
    const checked = checkEdits(current, edits);
    this.#jobs.createQueues([...checked.values()].map(({ queue }) => queue));
    const jobs = records.flatMap((record) => {
      const content = checked.get(record.id);
      if (content === undefined) return [];
      this.#edit(record, content);
      return [toJob(record)];
    });
    this.#audit.addOf(options, { before: current, jobs });
    return jobs;
  }

  /**
   * Changes the content of a job. A ready job first leaves its queue and frees its concurrency slot. A job that stays
   * ready in the same queue keeps the time at which it became ready; in any queue, the time at which it was due.
   */
  #edit(record: JobRecord, { queue, priority, args, runAt, tags, maxAttempts }: JobContent): void {
    const { state, queue: from, runAt: before, dueAt: due, readyAt } = record;
    const ready = state === 'enqueued' && runAt?.getTime() === before?.getTime();
    if (state === 'enqueued') {
      this.#jobs.takeOut(record);
      this.#jobs.schedule(record, runAt ?? new Date(this.#clock.now()), null);
    }
    Object.assign(record, { queue, priority, args: keepStoredDigits(record.args, args), runAt });
    if (maxAttempts !== undefined) record.maxAttempts = maxAttempts;
    if (tags !== undefined) record.meta = metaWithTags(record.meta, tags);
    if (ready) {
      this.#jobs.makeReady(record, null);
      record.dueAt = due;
      if (queue === from) record.readyAt = readyAt;
    } else if (state !== 'awaiting' && runAt !== null) this.#jobs.schedule(record, runAt, null);
  }

  async cancellations(claims: readonly Claim[]): Promise<Claim[]> {
    return claims.filter((claim) => {
      const record = this.#jobs.find(claim.jobId);
      return hasLease(record, claim) && record.cancelRequestedAt !== null;
    });
  }

  /**
   * Carries out an action on one job. If the caller passed `audit`, records the action in the audit log.
   *
   * @param plan called if the job's state allows the action; returns a function that makes the change, and the number
   *   of dependents that it restores, if any; `unchanged` if there is nothing to change
   */
  #control(
    id: string,
    action: BulkAction,
    options: JobControlOptions = {},
    plan: (record: JobRecord) => (() => void) | Restoration | 'unchanged',
  ): ControlResult {
    refuseTransaction(options.transaction);
    const record = this.#jobs.find(id);
    if (record === undefined) {
      this.#audit.addOf(options, { outcome: 'unknown' });
      return { outcome: 'unknown' };
    }
    options.check?.(toJob(record));
    const effect = effectOf(action, record.state);
    const planned = effect === 'change' ? plan(record) : effect;
    const { change, restored } = isRestoration(planned) ? planned : { change: planned, restored: 0 };
    const resultOf = (job: Job): ControlResult =>
      change === 'illegal'
        ? { outcome: 'illegal', job }
        : { outcome: 'ok', job, changed: change !== 'unchanged', restored };
    this.#audit.addOf(options, resultOf(toJob(record)));
    if (typeof change === 'function') change();
    return resultOf(toJob(record));
  }
}

function contentOf({ queue, priority, args, runAt }: JobRecord): JobContent {
  return { queue, priority, args, runAt };
}

/** A change that also restores dependents. */
interface Restoration {
  readonly change: () => void;
  readonly restored: number;
}

function isRestoration(planned: object | string): planned is Restoration {
  return typeof planned === 'object';
}

/** Serializes the properties that can decide whether an edit is allowed, so that a change to them can be detected. */
function versionOf({ state, queue, priority, runAt, attempt, maxAttempts, args, meta }: JobRecord): string {
  return JSON.stringify([state, queue, priority, runAt, attempt, maxAttempts, args, meta]);
}

export class MemoryJobTypes implements JobTypes {
  readonly #clock: Clock;
  readonly #audit: MemoryAuditLog;
  readonly #jobs: MemoryJobs;
  /** Pauses by job name, including expired ones that have not been removed yet. */
  readonly #pauses = new Map<string, PausedType>();

  constructor(clock: Clock, audit: MemoryAuditLog, jobs: MemoryJobs) {
    this.#clock = clock;
    this.#audit = audit;
    this.#jobs = jobs;
  }

  get all(): readonly PausedType[] {
    return [...this.#pauses.values()];
  }

  /** Returns the names of the job types that are paused now. Jobs of these types cannot be claimed. */
  paused(): ReadonlySet<string> {
    if (this.#pauses.size === 0) return none;
    const now = this.#clock.now();
    return new Set(this.all.filter((pause) => isPausedAt(pause, now)).map(({ name }) => name));
  }

  async listPaused(): Promise<PausedType[]> {
    const paused = this.paused();
    return this.all
      .filter(({ name }) => paused.has(name))
      .toSorted((one, other) => compareTexts(one.name, other.name));
  }

  async pause(name: string, options: PauseTypeOptions = {}): Promise<PausedType | null> {
    const now = this.#clock.now();
    const pause = checkPause(options, now);
    const before = this.#before(name, options);
    if (before !== null && isSamePause(before, pause)) return before;
    this.#pauses.set(name, { name, ...pauseSince(new Date(now), pause) });
    this.#jobs.notifications.notify(dueAt('pause', pause.until, now));
    return before;
  }

  async resume(name: string, options: JobTypeOptions = {}): Promise<PausedType | null> {
    const before = this.#before(name, options);
    this.unpause(name);
    return before;
  }

  /** Ends the pause of a job type, if any, and notifies servers. Does not write to the audit log. */
  unpause(name: string): void {
    this.#pauses.delete(name);
    for (const queue of this.#jobs.queues.keys()) this.#jobs.notifications.notify(readyIn(queue));
  }

  #before(name: string, options: JobTypeOptions): PausedType | null {
    refuseTransaction(options.transaction);
    const pause = this.#pauses.get(name);
    const before = pause !== undefined && isPausedAt(pause, this.#clock.now()) ? pause : null;
    this.#audit.addOf(options, before);
    return before;
  }
}

const none: ReadonlySet<string> = new Set();
