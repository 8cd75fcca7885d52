import type { NewBatch, NewJob } from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import { recordGaps, selectLastPlace, type Visibility } from '../jobs/ready-scans.sql.js';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { pipelined } from '../connection/pipeline.js';
import { readTime } from '../connection/stored-value.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import { type CreatedRow, type Insert, readyInsert, waitingInsert } from '../jobs/inserts.sql.js';
import { awaitingInsert, batchInsert, dependenciesInserts, waitsForParents } from './dependent-inserts.js';

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
    for (const [queue, queuePriorities] of priorities)
      await client.query(recordGaps, [await this.#queues.idOf(queue), arrayOf([...queuePriorities]), seq]);
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
    const queuePriorities = this.priorities.get(queue);
    if (queuePriorities === undefined) this.priorities.set(queue, new Set([priority]));
    else queuePriorities.add(priority);
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

/**
 * Maximum number of jobs in one statement. Larger bulk inserts are split, so that one statement can be built while
 * Postgres processes another.
 */
export const maxChunk = 2_000;

/** Total size of the jobs at which a chunk ends even if it has fewer than `maxChunk` jobs: the length of their arguments. */
const maxChunkSize = 4_000_000;

/** What each parent adds to the size of a job. High, because the driver escapes each of the ids. */
const parentSize = 160;

interface InsertOptions {
  /** All jobs of the call, in all queues. */
  readonly jobs: readonly NewJob[];
  readonly batch: NewBatch | null;
  readonly visibility: Visibility;
}

/**
 * Yields the statements that insert new jobs. If the jobs form a batch, the insert of the batch comes first. Builds
 * each statement on demand.
 *
 * @param groups the jobs to insert, by queue id
 */
export function* insertsOf(
  groups: readonly (readonly [queueId: number, jobs: readonly NewJob[]])[],
  { jobs, batch, visibility }: InsertOptions,
): Generator<Insert, void> {
  let newParents: ReadonlySet<string> | undefined; // computed on demand, because bulk inserts rarely need it
  if (batch !== null) yield batchInsert(batch);
  for (const [queueId, group] of groups) {
    const independent = group.filter((job) => !waitsForParents(job));
    for (const chunk of chunks(independent.filter(({ due }) => due === null)))
      yield readyInsert(queueId, chunk, visibility);
    for (const chunk of chunks(independent.filter(({ due }) => due !== null)))
      yield waitingInsert(queueId, chunk);
    if (independent.length === group.length) continue;
    newParents ??= newParentsOf(jobs, batch);
    for (const chunk of chunks(group.filter(waitsForParents))) {
      yield awaitingInsert(queueId, chunk);
      yield* dependenciesInserts(queueId, chunk, newParents);
    }
  }
}

function* chunks(jobs: readonly NewJob[]): Generator<NewJob[]> {
  let chunk: NewJob[] = [];
  let size = 0;
  for (const job of jobs) {
    chunk.push(job);
    size += job.args.length + parentSize * (job.after?.parents.length ?? 0);
    if (chunk.length < maxChunk && size < maxChunkSize) continue;
    yield chunk;
    chunk = [];
    size = 0;
  }
  if (chunk.length > 0) yield chunk;
}

/**
 * Returns the parents that need not be marked, because the outbox records their end anyway: the jobs of the same call
 * and the batch. Excludes an empty batch, because it has already ended.
 */
function newParentsOf(jobs: readonly NewJob[], batch: NewBatch | null): Set<string> {
  const newParentIds = new Set(jobs.map(({ id }) => id));
  if (batch !== null && batch.jobs.length > 0) newParentIds.add(batch.id);
  return newParentIds;
}
