import type { NewBatch, NewJob } from '@longshore/jobs/storage';
import type { Visibility } from '../jobs/ready-scans.sql.js';
import { awaitingInsert, batchInsert, dependenciesInserts, waitsForParents } from './dependent-inserts.js';
import { type Insert, readyInsert, waitingInsert } from '../jobs/inserts.sql.js';

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
  let known: ReadonlySet<string> | undefined; // computed on demand, because bulk inserts rarely need it
  if (batch !== null) yield batchInsert(batch);
  for (const [queueId, group] of groups) {
    const independent = group.filter((job) => !waitsForParents(job));
    for (const chunk of chunks(independent.filter(({ due }) => due === null)))
      yield readyInsert(queueId, chunk, visibility);
    for (const chunk of chunks(independent.filter(({ due }) => due !== null)))
      yield waitingInsert(queueId, chunk);
    if (independent.length === group.length) continue;
    known ??= knownParents(jobs, batch);
    for (const chunk of chunks(group.filter(waitsForParents))) {
      yield awaitingInsert(queueId, chunk);
      yield* dependenciesInserts(queueId, chunk, known);
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
function knownParents(jobs: readonly NewJob[], batch: NewBatch | null): Set<string> {
  const known = new Set(jobs.map(({ id }) => id));
  if (batch !== null && batch.jobs.length > 0) known.add(batch.id);
  return known;
}
