import type { JobIntake, NewJob, TransactionClient } from '@longshore/jobs';
import { byQueue } from './by-queue.js';
import type { Database, Statement } from './database.js';
import { EnqueueBuffer } from './enqueue-buffer.js';
import type { QueueDirectory } from './queue-directory.js';
import {
  insertReady,
  insertReadyWithMeta,
  insertWaiting,
  readyValues,
  readyValuesWithMeta,
  waitingValues,
} from './sql/enqueue-jobs.js';
import type { WakeUps } from './wake-ups.js';

/** Longer bulks are split: a statement's parameters are built and parsed as a whole. */
const maxChunk = 5_000;

interface Insert {
  readonly statement: Statement;
  readonly values: unknown[];
}

/** Where clients drop jobs. */
export class PostgresIntake implements JobIntake {
  readonly #database: Database;
  readonly #queues: QueueDirectory;
  readonly #wakeUps: WakeUps;
  readonly #buffers = new Map<string, EnqueueBuffer>();

  constructor(database: Database, queues: QueueDirectory, wakeUps: WakeUps) {
    this.#database = database;
    this.#queues = queues;
    this.#wakeUps = wakeUps;
  }

  async enqueue(job: NewJob): Promise<void> {
    let buffer = this.#buffers.get(job.queue);
    if (buffer === undefined) {
      buffer = new EnqueueBuffer((jobs) => this.enqueueMany(jobs));
      this.#buffers.set(job.queue, buffer);
    }
    await buffer.add(job);
  }

  async enqueueMany(jobs: readonly NewJob[], transaction?: TransactionClient): Promise<void> {
    const inserts: Insert[] = [];
    for (const [queue, group] of byQueue(jobs)) {
      const queueId = await this.#queues.idOf(queue);
      const ready = group.filter(({ due }) => due === null);
      const waiting = group.filter(({ due }) => due !== null);
      for (const chunk of chunks(ready)) inserts.push(readyInsert(queueId, chunk));
      for (const chunk of chunks(waiting))
        inserts.push({ statement: insertWaiting, values: waitingValues(queueId, chunk) });
    }
    if (transaction !== undefined) {
      for (const { statement, values } of inserts) await transaction.query(statement.text, values);
      return; // whether it commits, and when, is the caller's affair
    }
    await this.#insert(inserts);
    for (const { queue, due } of jobs.length === 1 ? jobs : announced(jobs))
      this.#wakeUps.announce(due === null ? queue : null);
  }

  /** Resolves when everything handed over so far has been written or refused. */
  async drained(): Promise<void> {
    await Promise.all([...this.#buffers.values()].map((buffer) => buffer.drained()));
  }

  async #insert(inserts: readonly Insert[]): Promise<void> {
    const [only] = inserts;
    if (only === undefined) return;
    if (inserts.length === 1) {
      await this.#database.query(only.statement, only.values);
      return;
    }
    await this.#database.transaction(async (client) => {
      for (const { statement, values } of inserts) await client.query({ ...statement, values });
    });
  }
}

function readyInsert(queueId: number, jobs: readonly NewJob[]): Insert {
  return jobs.some(({ meta = null }) => meta !== null)
    ? { statement: insertReadyWithMeta, values: readyValuesWithMeta(queueId, jobs) }
    : { statement: insertReady, values: readyValues(queueId, jobs) };
}

function chunks(jobs: readonly NewJob[]): NewJob[][] {
  return Array.from({ length: Math.ceil(jobs.length / maxChunk) }, (_, index) =>
    jobs.slice(index * maxChunk, (index + 1) * maxChunk),
  );
}

/** One job for each wake-up that these jobs call for. */
function announced(jobs: readonly NewJob[]): Iterable<NewJob> {
  return new Map(jobs.map((job) => [job.due === null ? job.queue : null, job])).values();
}
