import { dueAt } from '../storage/notification.js';
import { isDeepStrictEqual } from 'node:util';
import { compareTexts } from '@longshore/edge';
import type { JsonText, JsonValue } from '../job/job.js';
import {
  checkPause,
  isPausedAt,
  isSamePause,
  notPaused,
  type PauseOptions,
  pauseSince,
  dueTimesCountAfter,
} from '../job/pause.js';
import { isFinished } from '../job/state.js';
import { keepStoredDigits } from '../job/exact-number.js';
import { buildRecurringRun, planFiring, roomFor, withoutDuplicate } from '../recurring/firing.js';
import {
  type NewRecurringJob,
  type RecurringJob,
  RecurringJobOwnedError,
} from '../recurring/recurring-job.js';
import { Schedule, type StoredSchedule } from '../recurring/schedule.js';
import {
  type FiredRecurringJob,
  type FiringReport,
  maxListedRecurring,
  type MissedRuns,
  missedRunDays,
  type RecurringFilter,
  type DecideRecurringJobs,
  type RecurringJobs,
  type RecurringJobsUpdate,
  type RecurringQuery,
  type RemovalOptions,
  type SynchronizationReport,
  type TriggeredJob,
} from '../storage/recurring-jobs.js';
import type { ActionOptions } from '../storage/audit-log.js';
import type { ControlOptions } from '../storage/job-control.js';
import type { Clock } from '../job/clock.js';
import { refuseTransaction } from './refuse-transaction.js';
import type { MemoryAuditLog } from './memory-audit.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemorySetAside } from './memory-set-aside.js';

/**
 * A recurring job as stored in memory. The arguments are JSON text, so that callers cannot modify the stored values.
 */
interface RecurringRecord extends Omit<RecurringJob, 'args'> {
  args: JsonText;
}

/**
 * Delay, in milliseconds, before another attempt to fire a recurring job that is still due. A recurring job stays due,
 * for example, while the previous job is unfinished and overlap is `wait`.
 */
const unfinishedRetryMs = 1_000;

export class MemoryRecurringJobs implements RecurringJobs {
  readonly #jobs: MemoryJobs;
  readonly #clock: Clock;
  readonly #setAside: MemorySetAside;
  readonly #audit: MemoryAuditLog;
  readonly #records = new Map<string, RecurringRecord>();
  /** Missed runs of all recurring jobs, oldest first. */
  #missed: MissedRuns[] = [];

  constructor(jobs: MemoryJobs, clock: Clock, setAside: MemorySetAside, audit: MemoryAuditLog) {
    this.#audit = audit;
    this.#jobs = jobs;
    this.#clock = clock;
    this.#setAside = setAside;
  }

  async addOrUpdate(job: NewRecurringJob): Promise<RecurringJob> {
    const existing = this.#records.get(job.id);
    if (existing !== undefined && existing.application !== null)
      throw new RecurringJobOwnedError(job.id, existing.application);
    return toRecurringJob(this.#put(job, null));
  }

  async add(
    job: NewRecurringJob,
    options: ActionOptions<RecurringJob | null> = {},
  ): Promise<RecurringJob | null> {
    refuseTransaction(options.transaction);
    const added = this.#records.has(job.id) ? null : toRecurringJob(this.#put(job, null));
    this.#audit.addOf(options, added);
    return added;
  }

  async update(id: string, change: (current: RecurringJob) => NewRecurringJob): Promise<RecurringJob | null> {
    const [updated] = await this.updateAll([id], async (current) =>
      [...current.values()].map((job) => ({ ...change(job), id })),
    );
    return updated ?? null;
  }

  async updateAll(
    ids: readonly string[],
    change: DecideRecurringJobs,
    options: ActionOptions<RecurringJobsUpdate> = {},
  ): Promise<RecurringJob[]> {
    refuseTransaction(options.transaction);
    const existing = [...this.#records].filter(([id]) => ids.includes(id));
    const before = new Map(existing.map(([id, record]) => [id, toRecurringJob(record)]));
    const jobs = await change(before);
    if (existing.some(([id, record]) => this.#records.get(id) !== record))
      return this.updateAll(ids, change, options);
    for (const { id } of jobs) {
      const application = this.#records.get(id)?.application ?? null;
      if (application !== null) throw new RecurringJobOwnedError(id, application);
    }
    const updated = jobs.map((job) => {
      const stored = this.#records.get(job.id)?.args ?? job.args;
      return toRecurringJob(this.#put({ ...job, args: keepStoredDigits(stored, job.args) }, null));
    });
    this.#audit.addOf(options, { before, jobs: updated });
    return updated;
  }

  async remove(id: string, options: RemovalOptions = {}): Promise<boolean> {
    refuseTransaction(options.transaction);
    this.#checked(id, options.check);
    this.#audit.addOf(options, this.#records.has(id));
    return this.#records.delete(id);
  }

  async removeAll(ids: readonly string[], options: ActionOptions<string> = {}): Promise<number> {
    refuseTransaction(options.transaction);
    const existing = [...new Set(ids)].filter((id) => this.#records.has(id));
    for (const id of existing) this.#audit.addOf(options, id);
    for (const id of existing) this.#records.delete(id);
    return existing.length;
  }

  /** All recurring jobs, in no particular order. */
  get all(): RecurringJob[] {
    return Array.from(this.#records.values(), toRecurringJob);
  }

  async find(id: string): Promise<RecurringJob | null> {
    const record = this.#records.get(id);
    return record === undefined ? null : toRecurringJob(record);
  }

  async findArgs(id: string): Promise<JsonText | null> {
    return this.#records.get(id)?.args ?? null;
  }

  async list(query: RecurringQuery = {}): Promise<RecurringJob[]> {
    const { order = 'ascending', after, limit = maxListedRecurring, offset = 0 } = query;
    const sign = order === 'ascending' ? 1 : -1;
    return this.#matching(query)
      .filter(({ id }) => after === undefined || sign * compareTexts(id, after) > 0)
      .toSorted((left, right) => sign * compareTexts(left.id, right.id))
      .slice(offset, offset + limit)
      .map(toRecurringJob);
  }

  async count(filter: RecurringFilter = {}): Promise<number> {
    return this.#matching(filter).length;
  }

  #matching({ names, queues, applications }: RecurringFilter): RecurringRecord[] {
    return [...this.#records.values()].filter(
      ({ name, queue, application }) =>
        (names?.includes(name) ?? true) &&
        (queues?.includes(queue) ?? true) &&
        (applications === undefined || (application !== null && applications.includes(application))),
    );
  }

  async listMissed(ids: readonly string[], limit: number): Promise<MissedRuns[]> {
    return ids
      .flatMap((id) => this.#missed.filter((missed) => missed.recurringJobId === id).slice(-limit))
      .toSorted((one, other) => other.from.getTime() - one.from.getTime());
  }

  async trigger(
    id: string,
    options: ControlOptions<RecurringJob, TriggeredJob | null> = {},
  ): Promise<TriggeredJob | null> {
    refuseTransaction(options.transaction);
    const record = this.#checked(id, options.check);
    if (record === undefined) {
      this.#audit.addOf(options, null);
      return null;
    }
    const job = buildRecurringRun(record, record.args, this.#now());
    this.#jobs.queue(job.queue); // creates the queue, or throws before the audit entry is stored
    const holderId = this.#jobs.holderOf(job);
    const created = holderId === null;
    const recurringJob = toRecurringJob(record);
    const triggered = { id: holderId ?? job.id, created, queue: job.queue, recurringJob };
    this.#audit.addOf(options, triggered);
    this.#jobs.add([job]);
    return triggered;
  }

  async pause(
    id: string,
    options: ControlOptions<RecurringJob, RecurringJob | null> & PauseOptions = {},
  ): Promise<RecurringJob | null> {
    const now = this.#now();
    const pause = checkPause(options, now.getTime());
    return this.#control(id, options, (record) => {
      if (isSamePause(record, pause)) return;
      Object.assign(record, pauseSince(now, pause), { nextDueAt: null });
      this.#jobs.notifications.notify(dueAt('pause', pause.until, now.getTime()));
    });
  }

  async resume(
    id: string,
    options?: ControlOptions<RecurringJob, RecurringJob | null>,
  ): Promise<RecurringJob | null> {
    return this.#control(id, options, (record) => {
      if (record.pausedAt !== null) this.#unpause(record);
    });
  }

  /**
   * Resumes the recurring jobs whose pauses have expired.
   *
   * @param attempt called for each of them, with its id and a function that resumes it
   */
  resumeDue(now: number, attempt: (id: string, resume: () => void) => void): void {
    for (const record of this.#records.values()) {
      if (record.pausedAt === null || isPausedAt(record, now)) continue;
      attempt(record.id, () => this.#unpause(record));
    }
  }

  #unpause(record: RecurringRecord): void {
    const nextDueAt = new Schedule(record).next(dueTimesCountAfter(record, this.#now()));
    Object.assign(record, notPaused, { nextDueAt });
    this.#jobs.notifications.notify(dueAt('recurring', nextDueAt, this.#now().getTime()));
  }

  #control(
    id: string,
    options: ControlOptions<RecurringJob, RecurringJob | null> = {},
    change: (record: RecurringRecord) => void,
  ): RecurringJob | null {
    refuseTransaction(options.transaction);
    const record = this.#checked(id, options.check);
    this.#audit.addOf(options, record === undefined ? null : toRecurringJob(record));
    if (record === undefined) return null;
    change(record);
    return toRecurringJob(record);
  }

  async synchronize(application: string, jobs: readonly NewRecurringJob[]): Promise<SynchronizationReport> {
    const report: SynchronizationReport = { added: [], updated: [], removed: [], refused: [] };
    for (const job of jobs) {
      const existing = this.#records.get(job.id);
      if (existing === undefined) report.added.push(job.id);
      else if (existing.application !== application) report.refused.push(job.id);
      else if (differs(existing, job)) report.updated.push(job.id);
      if (existing === undefined || existing.application === application) this.#put(job, application);
    }
    const defined = new Set(jobs.map(({ id }) => id));
    for (const record of this.#records.values()) {
      if (record.application !== application || defined.has(record.id)) continue;
      this.#records.delete(record.id);
      report.removed.push(record.id);
    }
    return report;
  }

  async fireDue(limit: number): Promise<FiringReport> {
    const now = this.#now();
    const fired: FiredRecurringJob[] = [];
    for (const record of this.#records.values()) {
      if (record.nextDueAt === null || record.nextDueAt > now || fired.length === limit) continue;
      const { id: key, queue, updatedAt: changedAt } = record;
      const one = this.#setAside.attempt({ role: 'recurring', key, queue, changedAt }, () =>
        this.#fire(record, now),
      );
      if (one !== undefined && one !== null) fired.push(one);
    }
    const waits = [...this.#records.values()]
      .map(({ nextDueAt }) => (nextDueAt?.getTime() ?? Infinity) - now.getTime())
      .map((ms) => (ms > 0 ? ms : unfinishedRetryMs))
      .filter((ms) => ms < Infinity);
    const nextDueMs = waits.length === 0 ? null : waits.reduce((least, wait) => Math.min(least, wait));
    return { fired, nextDueMs: fired.length > 0 ? 0 : nextDueMs };
  }

  #checked(id: string, check: ControlOptions<RecurringJob>['check']): RecurringRecord | undefined {
    const record = this.#records.get(id);
    if (record !== undefined) check?.(toRecurringJob(record));
    return record;
  }

  #fire(record: RecurringRecord, now: Date): FiredRecurringJob | null {
    if (record.nextDueAt === null) return null;
    const last = record.lastJobId === null ? undefined : this.#jobs.find(record.lastJobId);
    const room = roomFor(record, this.#jobs.queue(record.queue).ready.length);
    const isBusy = last !== undefined && !isFinished(last.state);
    const planned = planFiring(record, record.nextDueAt, now, isBusy, room);
    if (planned === null) return null;
    const runs = planned.dueTimes.map(() => buildRecurringRun(record, record.args, now));
    const isDuplicate = this.#jobs.add(runs).holders.size > 0;
    const firing = isDuplicate ? withoutDuplicate(planned, record.nextDueAt, now) : planned;
    const jobs = isDuplicate ? [] : runs;
    record.nextDueAt = firing.nextDueAt;
    record.lastDueAt = firing.dueTimes.at(-1) ?? record.lastDueAt;
    record.lastJobId = jobs.at(-1)?.id ?? record.lastJobId;
    if (firing.skipped !== null) this.#recordMissed({ recurringJobId: record.id, ...firing.skipped }, now);
    return { id: record.id, jobIds: jobs.map(({ id }) => id), skipped: firing.skipped };
  }

  #recordMissed(missed: MissedRuns, now: Date): void {
    const last = this.#missed.findLast(({ recurringJobId }) => recurringJobId === missed.recurringJobId);
    const continues = last?.reason === missed.reason && last.until.getTime() === missed.from.getTime();
    const oldest = now.getTime() - missedRunDays * 86_400_000;
    this.#missed = this.#missed.filter(
      (period) => period.until.getTime() >= oldest && !(continues && period === last),
    );
    this.#missed.push(continues ? { ...missed, from: last.from } : missed);
  }

  #put(job: NewRecurringJob, application: string | null): RecurringRecord {
    const now = this.#now();
    const existing = this.#records.get(job.id);
    if (existing !== undefined && !differs(existing, job)) return existing;
    const keepsDue = existing !== undefined && (hasSameTimes(existing, job) || existing.pausedAt !== null);
    const record: RecurringRecord = {
      ...notPaused,
      lastDueAt: null,
      lastJobId: null,
      createdAt: now,
      ...existing,
      ...job,
      application,
      nextDueAt: keepsDue ? existing.nextDueAt : new Schedule(job).next(now),
      updatedAt: now,
    };
    this.#records.set(job.id, record);
    this.#jobs.notifications.notify(dueAt('recurring', record.nextDueAt, now.getTime()));
    return record;
  }

  #now(): Date {
    return new Date(this.#clock.now());
  }
}

function hasSameTimes(one: StoredSchedule, other: StoredSchedule): boolean {
  const isSame = (member: keyof StoredSchedule): boolean => isDeepStrictEqual(one[member], other[member]);
  return isSame('cron') && isSame('timeZone') && isSame('every') && isSame('anchor');
}

function differs(record: RecurringRecord, job: NewRecurringJob): boolean {
  return (Object.keys(job) as (keyof NewRecurringJob)[]).some(
    (member) => !isDeepStrictEqual(record[member], job[member]),
  );
}

function toRecurringJob(record: RecurringRecord): RecurringJob {
  return { ...record, args: JSON.parse(record.args) as JsonValue };
}
