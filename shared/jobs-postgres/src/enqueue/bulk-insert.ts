import type { NewJob } from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import { recordGaps, selectLastPlace } from '../jobs/ready-scans.sql.js';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { pipelined } from '../connection/pipeline.js';
import { readTime } from '../connection/stored-value.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import { insertsOf, maxChunk } from './inserts.js';
import type { CreatedRow, Insert } from '../jobs/inserts.sql.js';

/** Maximum number of statements in flight. */
const maxSent = 2;

/**
 * Inserts jobs with several statements in one transaction. Builds each statement while Postgres processes earlier ones.
 */
export class BulkInsert {
  readonly #database: Database;
  readonly #queues: QueueIdCache;

  constructor(database: Database, queues: QueueIdCache) {
    this.#database = database;
    this.#queues = queues;
  }

  /**
   * Inserts jobs that have no unique or idempotency keys, no parents and no batch. Returns their creation time; `null`
   * if there are no jobs.
   *
   * @param read returns all slices of jobs; called again each time the transaction is repeated
   */
  insertPlain(read: () => AsyncIterable<readonly NewJob[]>): Promise<Date | null> {
    return this.#database.transaction(async (client) => {
      const places = new SeqRange(await lastPlace(client));
      const createdAt = await runEach(this.#plainInserts(read(), places), client);
      await this.#noteGaps(client, places);
      return createdAt;
    });
  }

  /**
   * Runs the inserts of these jobs in an open transaction, and records gaps if there are more than `maxChunk` jobs.
   * Returns their creation time; `null` if nothing was inserted.
   */
  async insertAll(
    inserts: Iterable<Insert>,
    jobs: readonly NewJob[],
    client: Connection,
  ): Promise<Date | null> {
    if (jobs.length <= maxChunk) return runEach(inserts, client);
    const places = new SeqRange(await lastPlace(client));
    for (const job of jobs) places.add(job);
    const createdAt = await runEach(inserts, client);
    await this.#noteGaps(client, places);
    return createdAt;
  }

  /**
   * Yields the inserts of a queue as soon as `maxChunk` of its jobs have been read, and the inserts of the remaining
   * jobs at the end.
   */
  async *#plainInserts(slices: AsyncIterable<readonly NewJob[]>, places: SeqRange): AsyncGenerator<Insert> {
    const chunks = new Map<string, NewJob[]>();
    for await (const slice of slices) {
      for (const job of slice) {
        places.add(job);
        const chunk = chunks.get(job.queue);
        if (chunk === undefined) chunks.set(job.queue, [job]);
        else chunk.push(job);
      }
      for (const [queue, chunk] of chunks) {
        if (chunk.length < maxChunk) continue;
        yield* await this.#insertsOf(queue, chunk);
        chunks.delete(queue);
      }
    }
    for (const [queue, chunk] of chunks) yield* await this.#insertsOf(queue, chunk);
  }

  async #insertsOf(queue: string, jobs: readonly NewJob[]): Promise<Iterable<Insert>> {
    const queueId = await this.#queues.idOf(queue);
    await this.#queues.notePriorities(queueId, jobs);
    return insertsOf([[queueId, jobs]], { jobs, batch: null, visibility: 'soon' });
  }

  /**
   * Records gaps for the jobs of a long bulk insert, because scans might pass their positions before the transaction
   * commits.
   */
  async #noteGaps(client: Connection, { seq, priorities }: SeqRange): Promise<void> {
    if (seq === null) return;
    for (const [queue, own] of priorities)
      await client.query(recordGaps, [await this.#queues.idOf(queue), arrayOf([...own]), seq]);
  }
}

/**
 * The positions that jobs of a bulk insert can have: all sequence numbers after `seq`, in these queues and priorities.
 */
class SeqRange {
  readonly seq: string | null;
  readonly priorities = new Map<string, Set<number>>();

  constructor(seq: string | null) {
    this.seq = seq;
  }

  add({ queue, priority }: NewJob): void {
    const known = this.priorities.get(queue);
    if (known === undefined) this.priorities.set(queue, new Set([priority]));
    else known.add(priority);
  }
}

async function lastPlace(client: Connection): Promise<string | null> {
  const { rows } = await client.query<{ seq: string }>(selectLastPlace);
  return rows[0]?.seq ?? null;
}

/**
 * Runs statements in order, with up to {@link maxSent} in flight, so that Postgres does not have to wait. Returns the
 * jobs' creation time; `null` if nothing was inserted.
 */
async function runEach(
  inserts: Iterable<Insert> | AsyncIterable<Insert>,
  client: Connection,
): Promise<Date | null> {
  return pipelined(client.client, async () => {
    const sent: Promise<Date | null>[] = [];
    let createdAt: Date | null = null;
    try {
      for await (const insert of inserts) {
        if (sent.length === maxSent) createdAt = (await sent.shift()) ?? createdAt;
        sent.push(write(client, insert));
        await requestSent();
      }
      for (const writing of sent) createdAt = (await writing) ?? createdAt;
      return createdAt;
    } finally {
      await Promise.allSettled(sent);
    }
  });
}

/** Returns the creation time from the row that an insert returned; `null` if there is no row. */
export function createdAtOf(rows: readonly unknown[]): Date | null {
  const at: unknown = (rows as readonly CreatedRow[])[0]?.created_at ?? null;
  // On a caller's connection, the driver can return times as text.
  return at === null || at instanceof Date ? at : readTime(at);
}

function write(client: Connection, { statement, values }: Insert): Promise<Date | null> {
  const writing = client.query<CreatedRow>(statement, values).then(({ rows }) => createdAtOf(rows));
  writing.catch(() => undefined); // prevents an unhandled rejection if this fails before it is awaited
  return writing;
}

/** Resolves after the socket has had a chance to send its pending writes. */
function requestSent(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
