import type { JobIntake, NewBatch, NewJob, TransactionClient } from '@longshore/jobs';
import type pg from 'pg';
import { byQueue } from './by-queue.js';
import type { Database } from './database.js';
import { EnqueueBuffer } from './enqueue-buffer.js';
import {
  awaitingInsert,
  batchInsert,
  checkParents,
  linksInsert,
  waitsForParents,
  withFollowed,
} from './linked-inserts.js';
import type { QueueDirectory } from './queue-directory.js';
import { hasConcurrencyKey, type Insert, readyInsert, waitingInsert } from './sql/enqueue-jobs.js';
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

  enqueueMany(jobs: readonly NewJob[], transaction?: TransactionClient): Promise<void> {
    return this.#enqueue(jobs, null, transaction);
  }

  enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<void> {
    const { jobs, followUp } = batch;
    return this.#enqueue(followUp === null ? jobs : [...jobs, followUp], batch, transaction);
  }

  async #enqueue(
    jobs: readonly NewJob[],
    batch: NewBatch | null,
    transaction: TransactionClient | undefined,
  ): Promise<void> {
    if (jobs.some(waitsForParents)) {
      await checkParents(jobs, batch, async (statement, values) =>
        transaction === undefined
          ? this.#database.query(statement, values)
          : (await transaction.query(statement.text, values)).rows,
      );
    }
    const inserts = await this.#inserts(jobs, batch);
    if (transaction !== undefined) {
      for (const { statement, values } of inserts) await transaction.query(statement.text, values);
      return; // whether it commits, and when, is the caller's affair
    }
    await this.#insert(inserts);
    for (const queue of announced(jobs)) this.#wakeUps.announce(queue);
    if (jobs.some(hasConcurrencyKey)) this.#wakeUps.announce(null);
  }

  /** Resolves when everything handed over so far has been written or refused. */
  async drained(): Promise<void> {
    await Promise.all([...this.#buffers.values()].map((buffer) => buffer.drained()));
  }

  /** One chunk of one queue each, built when it is asked for. */
  async #inserts(jobs: readonly NewJob[], batch: NewBatch | null): Promise<Generator<Insert, void>> {
    const groups: [queueId: number, jobs: NewJob[]][] = [];
    for (const [queue, group] of byQueue(withFollowed(jobs)))
      groups.push([await this.#queues.idOf(queue), group]);
    return (function* build() {
      if (batch !== null) yield batchInsert(batch);
      for (const [queueId, group] of groups) {
        const atOnce = group.filter((job) => !waitsForParents(job));
        for (const chunk of chunks(atOnce.filter(({ due }) => due === null)))
          yield readyInsert(queueId, chunk);
        for (const chunk of chunks(atOnce.filter(({ due }) => due !== null)))
          yield waitingInsert(queueId, chunk);
        if (atOnce.length === group.length) continue;
        const known = knownParents(jobs, batch);
        for (const chunk of chunks(group.filter(waitsForParents))) {
          yield awaitingInsert(queueId, chunk);
          yield linksInsert(queueId, chunk, known);
        }
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

/** Parents that need not be told: those that come with their children, and a batch unless it has ended before it began. */
function knownParents(jobs: readonly NewJob[], batch: NewBatch | null): Set<string> {
  const known = new Set(jobs.map(({ id }) => id));
  if (batch !== null && batch.jobs.length > 0) known.add(batch.id);
  return known;
}

/** The wake-ups that these jobs call for. */
function announced(jobs: readonly NewJob[]): Set<string | null> {
  return new Set(jobs.map((job) => (job.due === null && !waitsForParents(job) ? job.queue : null)));
}
