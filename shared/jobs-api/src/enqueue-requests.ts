import { mapInSlices, nextTurn, turnIsOver } from '@longshore/edge';
import {
  defineJob,
  type EnqueueOptions,
  type EnqueueRequest,
  InvalidArgumentsError,
  type JobDefinition,
  UnknownParentError,
} from '@longshore/jobs';
import { bounds, byJobName } from '@longshore/jobs/storage';
import { ApiError, apiError, type Problem, ProblemList, type UncheckedBody } from '@longshore/resources';
import type { Static } from 'typebox';
import type { NewJobItem } from './job-item.js';

type NewJobBody = Static<typeof NewJobItem>;

/**
 * Definition used for jobs that this process does not define. Accepts any object as arguments, of any version; the server
 * that runs the job checks them.
 */
const unchecked = defineJob({ name: 'unchecked', version: bounds.version.max });

/** Converts request bodies into enqueue requests. */
export class EnqueueRequests {
  readonly #definitions: ReadonlyMap<string, JobDefinition>;
  readonly #acceptUnknown: boolean;

  /** @param acceptUnknown whether to accept jobs that this process does not define, with any arguments */
  constructor(definitions: readonly JobDefinition[], acceptUnknown: boolean) {
    this.#definitions = byJobName(definitions);
    this.#acceptUnknown = acceptUnknown;
  }

  /**
   * Returns the definition of a job. The definition of an unknown job accepts any arguments.
   * @throws {ApiError} 42202 if the application does not define the job, and unknown jobs are not accepted
   */
  definitionOf(name: string): JobDefinition {
    const definition = this.#definitions.get(name);
    if (definition !== undefined) return definition;
    if (!this.#acceptUnknown) {
      const jobNames = [...this.#definitions.keys()].join(', ') || 'none';
      throw apiError(42202, `name "${name}" is not a job of this application; it has ${jobNames}`);
    }
    return { ...unchecked, name };
  }

  /**
   * Returns what is wrong with the names and the arguments in bodies that may break the schema. Ignores bodies without a
   * name, and arguments that are no object.
   */
  async problems(bodies: readonly UncheckedBody[]): Promise<readonly Problem[]> {
    const problems = await mapInSlices(bodies, ({ body, at }) => {
      const { name, args = {}, version } = (body ?? {}) as Readonly<Record<string, unknown>>;
      if (typeof name !== 'string' || typeof args !== 'object' || args === null || Array.isArray(args))
        return [];
      try {
        this.definitionOf(name).check(args, isVersion(version) ? version : undefined);
        return [];
      } catch (error) {
        return problemsOrThrow(error, at);
      }
    });
    return problems.flat();
  }

  /**
   * Returns the version for which the arguments of a body were written: unless it says so, that of the definition, or 1
   * for an unknown job.
   */
  versionOf({ name, version }: { readonly name: string; readonly version?: number }): { version?: number } {
    if (version !== undefined) return { version };
    return this.#definitions.has(name) ? {} : { version: 1 };
  }

  /** Converts one body to an enqueue request. Throws as {@link definitionOf} does. */
  requestOf(body: NewJobBody): EnqueueRequest {
    const { name, args = {}, runAt, ...rest } = body;
    const options: Omit<EnqueueOptions, 'transaction'> = {
      ...rest,
      ...this.versionOf(body),
      ...(runAt !== undefined && { runAt: new Date(runAt) }),
    };
    return { definition: this.definitionOf(name), args, options };
  }
}

/**
 * Runs `work` for a request body. Converts invalid arguments, range errors and unknown parents to a 422. Rethrows all
 * other errors unchanged.
 *
 * @param at the position of the body in the request, for messages, such as `[3]` or `jobs[3]`
 */
export async function withApiErrors<Result>(work: () => Promise<Result> | Result, at = ''): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const [first, ...furtherProblems] = error instanceof ApiError ? [] : problemsOf(error, at);
    throw first === undefined ? error : new ApiError([first, ...furtherProblems]);
  }
}

/**
 * Converts bodies to enqueue requests and runs `work` with them. One 422 lists all unknown job names. If all names are
 * known, one 422 lists all invalid arguments. Each problem contains the position of the body.
 *
 * @param at formats the index of a body for messages; by default, index 3 becomes `[3]`
 */
export async function withEnqueueRequests<Result>(
  bodies: readonly NewJobBody[],
  requests: EnqueueRequests,
  work: (requests: EnqueueRequest[]) => Promise<Result>,
  at: PositionText = (index) => `[${index}]`,
): Promise<Result> {
  const parsed = await mapCollectingProblems(bodies, at, (body) => requests.requestOf(body));
  return withApiErrors(async () => {
    try {
      return await work(parsed);
    } catch (error) {
      // The client reports only the first job with invalid arguments. Checks all arguments to report every problem.
      if (error instanceof InvalidArgumentsError)
        await mapCollectingProblems(parsed, at, ({ definition, args, options }) =>
          definition.check(args, options?.version),
        );
      throw error;
    }
  });
}

type PositionText = (index: number) => string;

/**
 * Runs `work` for one entry of a list after the other, in time slices: other requests are served in between. Throws one
 * error with the problems of all entries. Each problem contains the position of the entry.
 */
export async function mapCollectingProblems<Entry, Result>(
  list: readonly Entry[],
  at: PositionText,
  work: (entry: Entry) => Promise<Result> | Result,
): Promise<Result[]> {
  const problems = new ProblemList();
  const results: Result[] = [];
  for (const [index, entry] of list.entries()) {
    if (turnIsOver()) await nextTurn();
    try {
      results.push(await work(entry));
    } catch (error) {
      problems.addAll(problemsOrThrow(error, at(index)));
    }
  }
  problems.throwIfAny();
  return results;
}

function isVersion(value: unknown): value is number {
  const { min, max } = bounds.version;
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** Returns the problems for which an error rejects the body at a position. Rethrows all other errors. */
function problemsOrThrow(error: unknown, at: string): Problem[] {
  const problems = problemsOf(error, at);
  if (problems.length === 0) throw error;
  return problems;
}

/** Returns the problems for which an error rejects the body at a position; empty for other errors. */
export function problemsOf(error: unknown, at: string): Problem[] {
  const prefix = at === '' ? '' : `${at}.`;
  if (error instanceof ApiError) {
    return error.problems.map((problem) => ({
      ...problem,
      internalMessage: prefix + problem.internalMessage,
    }));
  }
  if (error instanceof InvalidArgumentsError) {
    return error.problems.map(({ path, message, kind }) => ({
      code: kind === 'missing' ? 42201 : kind === 'unknown' ? 42203 : 42202,
      internalMessage: `${prefix}${path} ${message}`,
    }));
  }
  const isRefusal = error instanceof RangeError || error instanceof UnknownParentError;
  return isRefusal
    ? [{ code: 42202, internalMessage: at === '' ? error.message : `${at}: ${error.message}` }]
    : [];
}
