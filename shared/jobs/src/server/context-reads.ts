import type { Batch } from '../job/batch.js';
import { checkDefinition, type JobDefinition } from '../job/definition.js';
import type { Job, JobError, JsonValue } from '../job/job.js';
import type { FinishedState } from '../job/state.js';
import type { AttemptReader, DeletedParent, ParentJob, StoredParent } from './attempt-reader.js';

/** A batch that the running job waited for, with its state and counts. */
export interface ParentBatch extends Readonly<Batch> {
  readonly kind: 'batch';
  /**
   * Iterates over the failed jobs of the batch, oldest first. Reads a page at a time, so a batch can have any number of
   * them. With a definition, only over the jobs of this name, typed by the definition.
   *
   * @throws {TypeError} if `definition` is not a job definition
   */
  failedJobs(): AsyncIterable<Job>;
  failedJobs<Args, Result, Input>(
    definition: JobDefinition<Args, Result, Input>,
  ): AsyncIterable<Job<Args, Result>>;
  /**
   * Iterates over the results of the batch's jobs that are done, in the order of the batch. Reads a page at a time, as
   * {@link failedJobs} does. Leaves out jobs that were deleted since: compare with `done`.
   *
   * @throws {TypeError} if `definition` is not a job definition
   */
  results(): AsyncIterable<JsonValue>;
  results<Args, Result, Input>(definition: JobDefinition<Args, Result, Input>): AsyncIterable<Result>;
}

export type Parent = ParentJob | ParentBatch | DeletedParent;

/** A parent whose definition is known. */
export type ParentOf<Definition extends JobDefinition> =
  ParentJob<NonNullable<Definition['types']>['result']> | DeletedParent;

/** A failed or lost attempt of the running job. */
export interface EarlierError {
  /** Number of the attempt, starting at 1. */
  readonly attempt: number;
  readonly error: JobError;
  readonly startedAt: Date;
  readonly finishedAt: Date;
}

/**
 * What a handler can read about the work before its attempt. Nothing is read until a handler calls one of these
 * functions; each call reads again.
 */
export interface ContextReads {
  /**
   * Reads the jobs and batches that the job waited for, in the order of `after.parents`; empty if it waited for none.
   * Reads all results at once: where there may be many large ones, use a batch instead.
   *
   * Definitions type the results: a list types each parent by its own, and a single one types all parents. The job may
   * have been enqueued by another process, and by code that has changed since. Therefore the compiler cannot derive the
   * parents from the definition of the running job: the handler declares which it expects, and each call compares the
   * number and the names of the actual parents. The results were validated when they were stored.
   *
   * @throws {TypeError} if the parents do not have these definitions; the message names each parent that differs
   */
  readonly parents: ReadParents;
  /**
   * Reads the batch that the job waited for, as a batch callback does: the first batch among its parents. `null` if there
   * is none, or it is not stored any more.
   */
  readonly batch: () => Promise<ParentBatch | null>;
  /**
   * Reads why earlier attempts of the job failed or were lost, oldest first. Of many attempts, the storage keeps the first
   * and the newest. Empty in a first attempt, without a read.
   */
  readonly earlierErrors: () => Promise<readonly EarlierError[]>;
}

export interface ReadParents {
  (): Promise<readonly Parent[]>;
  <const Definitions extends readonly JobDefinition[]>(
    definitions: Definitions,
  ): Promise<{ readonly [Index in keyof Definitions]: ParentOf<Definitions[Index]> }>;
  <Definition extends JobDefinition>(definition: Definition): Promise<readonly ParentOf<Definition>[]>;
}

/** Creates what a handler calls from the reads of its attempt. */
export function contextReads(reader: AttemptReader): ContextReads {
  const parents = async (expected?: JobDefinition | readonly JobDefinition[]): Promise<readonly Parent[]> => {
    for (const definition of [expected ?? []].flat()) checkDefinition('parents', definition);
    const found = await reader.parents();
    if (expected !== undefined) checkNames(found, expected);
    return found.map((parent) => (parent.kind === 'batch' ? parentBatch(parent, reader) : parent));
  };
  return {
    // The names have been compared with those of the definitions, so adding their types is safe.
    parents: parents as ReadParents,
    batch: async () => {
      const batch = await reader.batch();
      return batch === null ? null : parentBatch(batch, reader);
    },
    earlierErrors: async () => {
      const attempts = await reader.attempts();
      return attempts.flatMap(({ attempt, outcome, error, startedAt, finishedAt }) =>
        (outcome === 'failed' || outcome === 'lost') && error !== null && finishedAt !== null
          ? { attempt, error, startedAt, finishedAt }
          : [],
      );
    },
  };
}

/** @throws {TypeError} unless there are as many parents as definitions, with their names; a deleted one has no name */
function checkNames(
  parents: readonly StoredParent[],
  expected: JobDefinition | readonly JobDefinition[],
): void {
  const definitions: readonly JobDefinition[] = Array.isArray(expected)
    ? (expected as readonly JobDefinition[])
    : parents.map(() => expected as JobDefinition);
  if (definitions.length !== parents.length)
    throw new TypeError(
      `parents: this job has ${parents.length} parents (${parents.map(described).join(', ')}), but ${definitions.length} definitions were given: give one for each parent, in the order of after.parents`,
    );
  const wrong = parents.flatMap((parent, index) => {
    const name = definitions[index]?.name;
    const isRight = parent.kind === 'deleted' || (parent.kind === 'job' && parent.name === name);
    return isRight ? [] : `parent ${index} is ${described(parent)}, not a job "${name}"`;
  });
  if (wrong.length === 0) return;
  const hint = parents.some(({ kind }) => kind === 'batch')
    ? 'read a batch with context.batch(), or all parents with context.parents() without definitions'
    : 'give the definitions in the order of after.parents';
  throw new TypeError(`parents: ${wrong.join('; ')}: ${hint}`);
}

function described({ kind, id, name }: StoredParent): string {
  if (kind === 'deleted') return `${id}, which was deleted`;
  return kind === 'job' ? `a job "${name}" (${id})` : `the batch ${id}`;
}

function parentBatch(batch: Batch, reader: AttemptReader): ParentBatch {
  const jobsIn = (call: string, state: FinishedState, definition?: JobDefinition): AsyncIterable<Job> => {
    if (definition !== undefined) checkDefinition(call, definition);
    return jobsOf(reader, batch.id, state, definition?.name ?? null);
  };
  // The jobs have the name of the definition, so adding its types is safe.
  const read = {
    failedJobs: (definition?: JobDefinition) => jobsIn('failedJobs', 'failed', definition),
    results: (definition?: JobDefinition) => resultsOf(jobsIn('results', 'done', definition)),
  } as Pick<ParentBatch, 'failedJobs' | 'results'>;
  return { ...batch, ...read, kind: 'batch' };
}

async function* resultsOf(jobs: AsyncIterable<Job>): AsyncGenerator<JsonValue> {
  for await (const { result } of jobs) yield result;
}

async function* jobsOf(
  reader: AttemptReader,
  batchId: string,
  state: FinishedState,
  name: string | null,
): AsyncGenerator<Job> {
  for (let after: string | null = null; ;) {
    const { jobs, isLast } = await reader.batchJobs({ batchId, state, name, after });
    yield* jobs;
    after = jobs.at(-1)?.id ?? null;
    if (isLast || after === null) return;
  }
}
