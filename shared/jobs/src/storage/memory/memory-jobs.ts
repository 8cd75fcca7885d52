import type { NewJob } from '../../job/job.js';
import type { RateLimit } from '../../job/queue-limits.js';
import type { FinishedState } from '../../job/state.js';
import type { Clock } from './clock.js';
import { type JobRecord, newRecord } from './job-record.js';
import { ReadyLine } from './ready-line.js';
import { TokenBucket } from './token-bucket.js';

type WakeUpListener = (queue: string | null) => void;

export interface QueueRecord {
  readonly createdAt: Date;
  readonly line: ReadyLine;
  pausedAt: Date | null;
  concurrencyLimit: number | null;
  rateLimit: Required<RateLimit> | null;
  readonly bucket: TokenBucket;
  /** Jobs that servers hold. */
  running: number;
}

/** All jobs and queues of one process, and the steps from state to state that several callers take. */
export class MemoryJobs {
  readonly #clock: Clock;
  readonly #records = new Map<string, JobRecord>();
  readonly #queues = new Map<string, QueueRecord>();
  readonly #listeners = new Set<WakeUpListener>();
  /** Ids of finished jobs, the oldest first; some may be gone or running again. */
  #finished: string[] = [];
  #seq = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get queues(): ReadonlyMap<string, QueueRecord> {
    return this.#queues;
  }

  all(): IterableIterator<JobRecord> {
    return this.#records.values();
  }

  find(id: string): JobRecord | undefined {
    return this.#records.get(id.toLowerCase());
  }

  add(jobs: readonly NewJob[]): void {
    const ids = new Set<string>();
    for (const { id } of jobs) {
      if (this.#records.has(id) || ids.has(id)) throw new Error(`There is a job ${id} already`);
      ids.add(id);
    }
    for (const job of jobs) {
      const record = newRecord(job, this.#seq++, this.#clock.now());
      this.#records.set(record.id, record);
      if (record.state === 'enqueued') this.makeReady(record);
      else this.schedule(record, record.runAt ?? new Date(this.#clock.now()));
    }
  }

  /** A queue comes into being when it is first named. */
  queue(name: string): QueueRecord {
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      const now = this.#clock.now();
      queue = {
        createdAt: new Date(now),
        line: new ReadyLine(),
        pausedAt: null,
        concurrencyLimit: null,
        rateLimit: null,
        bucket: new TokenBucket(now),
        running: 0,
      };
      this.#queues.set(name, queue);
    }
    return queue;
  }

  start(record: JobRecord): void {
    record.state = 'processing';
    this.queue(record.queue).running++;
  }

  makeReady(record: JobRecord): void {
    this.#stop(record);
    record.state = 'enqueued';
    record.readyAt = this.#clock.now();
    this.queue(record.queue).line.add(record);
    this.wake(record.queue);
  }

  schedule(record: JobRecord, runAt: Date): void {
    this.#stop(record);
    record.state = 'scheduled';
    record.runAt = runAt;
    this.queue(record.queue);
    this.wake(null);
  }

  finish(record: JobRecord, state: FinishedState): void {
    this.#stop(record);
    record.state = state;
    record.finishedAt = new Date(this.#clock.now());
    record.cancelRequested = false;
    this.#finished.push(record.id);
  }

  delete(record: JobRecord): void {
    this.#records.delete(record.id);
  }

  /** Keeps no more than `most` finished jobs: the oldest go. */
  trim(most: number): void {
    this.#finished = this.#finished.filter((id) => this.#records.get(id)?.finishedAt);
    const excess = Math.max(0, this.#finished.length - most);
    for (const id of this.#finished.splice(0, excess)) this.#records.delete(id);
  }

  listen(listener: WakeUpListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  wake(queue: string | null): void {
    for (const listener of this.#listeners) listener(queue);
  }

  /** Before a job leaves its state: makes room if it ran. */
  #stop(record: JobRecord): void {
    if (record.state !== 'processing') return;
    const queue = this.queue(record.queue);
    queue.running--;
    if (queue.concurrencyLimit !== null) queueMicrotask(() => this.wake(record.queue));
  }
}
