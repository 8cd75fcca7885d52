import {
  type BatchControl,
  checkTime,
  type Claim,
  type ControlResult,
  type JobControl,
  type JobState,
  type QueueLimits,
} from '@longshore/jobs';
import type { Database, Statement } from './database.js';
import { toJob } from './job-row.js';
import type { LimitedQueues } from './limited-queues.js';
import type { PostgresReader } from './postgres-reader.js';
import type { QueueDirectory } from './queue-directory.js';
import { cancelOneAwaiting, runAwaiting } from './sql/awaiting-jobs.js';
import * as sql from './sql/control-jobs.js';
import type { WakeUps } from './wake-ups.js';

/** What to do with a job in each state: nothing for it is so already; states that are not named do not allow it. */
type Steps = Partial<Record<JobState, Statement | 'unchanged'>>;

/** What operators do. */
export class PostgresControl implements Omit<JobControl, keyof BatchControl> {
  readonly #database: Database;
  readonly #queues: QueueDirectory;
  readonly #reader: PostgresReader;
  readonly #wakeUps: WakeUps;
  readonly #limits: LimitedQueues;

  constructor(
    database: Database,
    queues: QueueDirectory,
    reader: PostgresReader,
    wakeUps: WakeUps,
    limits: LimitedQueues,
  ) {
    this.#database = database;
    this.#queues = queues;
    this.#reader = reader;
    this.#wakeUps = wakeUps;
    this.#limits = limits;
  }

  async cancelJob(id: string): Promise<ControlResult> {
    const result = await this.#control(id, {
      scheduled: sql.cancelWaiting,
      awaiting: cancelOneAwaiting,
      enqueued: sql.cancelReady,
      processing: sql.cancelRunning,
      cancelled: 'unchanged',
    });
    this.#wakeUps.announce(null);
    return result;
  }

  retryJob(id: string): Promise<ControlResult> {
    return this.#enqueued(
      this.#control(id, {
        failed: sql.retryFinished,
        cancelled: sql.retryFinished,
        enqueued: 'unchanged',
        processing: 'unchanged',
      }),
    );
  }

  runJob(id: string): Promise<ControlResult> {
    return this.#enqueued(
      this.#control(id, {
        scheduled: sql.runWaiting,
        awaiting: runAwaiting,
        enqueued: 'unchanged',
        processing: 'unchanged',
      }),
    );
  }

  async rescheduleJob(id: string, runAt: Date): Promise<ControlResult> {
    const time = checkTime('runAt', runAt).toISOString();
    const result = await this.#control(id, { scheduled: sql.rescheduleWaiting }, [time]);
    this.#wakeUps.announce(null);
    return result;
  }

  deleteJob(id: string): Promise<ControlResult> {
    return this.#control(id, {
      done: sql.deleteFinished,
      failed: sql.deleteFinished,
      cancelled: sql.deleteFinished,
    });
  }

  async pauseQueue(name: string): Promise<void> {
    await this.#database.query(sql.pauseQueue, [name]);
  }

  async resumeQueue(name: string): Promise<void> {
    await this.#database.query(sql.resumeQueue, [name]);
    this.#wakeUps.announce(name);
  }

  limitQueue(name: string, limits: QueueLimits): Promise<void> {
    return this.#limits.limit(name, limits);
  }

  async cancellations(claims: readonly Claim[]): Promise<Claim[]> {
    const ids = claims.map(({ jobId }) => jobId);
    const rows = await this.#database.query<{ id: string }>(sql.selectCancellations, [ids]);
    const cancelled = new Set(rows.map(({ id }) => id));
    return claims.filter(({ jobId }) => cancelled.has(jobId));
  }

  /** A job may move on between the look at it and the step: then it is looked at again. */
  async #control(id: string, steps: Steps, values: readonly unknown[] = []): Promise<ControlResult> {
    for (;;) {
      const row = await this.#reader.findRow(id);
      if (row === undefined) return { outcome: 'unknown' };
      const job = toJob(row, await this.#queues.nameOf(row.queue_id));
      const step = steps[row.state];
      if (step === undefined) return { outcome: 'illegal', job };
      if (step === 'unchanged') return { outcome: 'ok', job, changed: false };
      const [done] = await this.#database.query<{ changed: boolean }>(step, [row.queue_id, id, ...values]);
      if (done !== undefined) {
        return { outcome: 'ok', job: (await this.#reader.findJob(id)) ?? job, changed: done.changed };
      }
    }
  }

  async #enqueued(control: Promise<ControlResult>): Promise<ControlResult> {
    const result = await control;
    if (result.outcome === 'ok' && result.changed) {
      this.#wakeUps.announce(result.job.queue);
      this.#wakeUps.announce(null); // if its concurrency key holds it back
    }
    return result;
  }
}
