import type { JobIntake, NewJob, TransactionClient } from '@longshore/jobs';
import type pg from 'pg';
import { byQueue } from './by-queue.js';
import type { Database } from './database.js';
import { EnqueueBuffer } from './enqueue-buffer.js';
import type { QueueDirectory } from './queue-directory.js';
import { type Insert, readyInsert, waitingInsert } from './sql/enqueue-jobs.js';
import type { WakeUps } from './wake-ups.js';

/** Longer bulks are split: a statement's parameters are built and parsed as a whole, and one is built while Postgres works on another. */
const maxChunk = 2_000;

/** Characters of arguments. */
const maxChunkSize = 4_000_000;

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
    const inserts = await this.#inserts(jobs);
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

  /** One chunk of one queue each, built when it is asked for. */
  async #inserts(jobs: readonly NewJob[]): Promise<Generator<Insert, void>> {
    const groups: [queueId: number, jobs: NewJob[]][] = [];
    for (const [queue, group] of byQueue(jobs)) groups.push([await this.#queues.idOf(queue), group]);
    return (function* build() {
      for (const [queueId, group] of groups) {
        for (const chunk of chunks(group.filter(({ due }) => due === null)))
          yield readyInsert(queueId, chunk);
        for (const chunk of chunks(group.filter(({ due }) => due !== null)))
          yield waitingInsert(queueId, chunk);
      }
    })();
  }

  async #insert(inserts: Generator<Insert, void>): Promise<void> {
    const first = inserts.next();
    if (first.done === true) return;
    const second = inserts.next();
    if (second.done === true) {
      await this.#database.query(first.value.statement, first.value.values);
      return;
    }
    await this.#database.transaction(async (client) => {
      let writing = write(client, first.value);
      for (let next: IteratorResult<Insert, void> = second; next.done !== true; next = inserts.next()) {
        await writing;
        writing = write(client, next.value);
        await handedOver(); // then the next chunk is built while Postgres works on this one
      }
      await writing;
    });
  }
}

function write(client: pg.ClientBase, { statement, values }: Insert): Promise<unknown> {
  const writing = client.query({ ...statement, values });
  writing.catch(() => undefined); // it is awaited later than it may fail
  return writing;
}

/** Resolves when the socket has had its turn to send what was written to it. */
function handedOver(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function* chunks(jobs: readonly NewJob[]): Generator<NewJob[]> {
  let chunk: NewJob[] = [];
  let size = 0;
  for (const job of jobs) {
    chunk.push(job);
    size += job.args.length;
    if (chunk.length < maxChunk && size < maxChunkSize) continue;
    yield chunk;
    chunk = [];
    size = 0;
  }
  if (chunk.length > 0) yield chunk;
}

/** One job for each wake-up that these jobs call for. */
function announced(jobs: readonly NewJob[]): Iterable<NewJob> {
  return new Map(jobs.map((job) => [job.due === null ? job.queue : null, job])).values();
}
