import {
  defineJob,
  type EnqueueOptions,
  InvalidArgumentsError,
  type JobDefinition,
  type JobOrder,
  UnknownParentError,
} from '@longshore/jobs';
import { mapInSlices } from '@longshore/jobs/storage';
import { ApiError, apiError, type Problem, ProblemList } from '@longshore/resources';
import type { NewJobItem } from './job-item.js';
import type { Static } from 'typebox';

type NewJobBody = Static<typeof NewJobItem>;

/** For names that the application does not define: other processes do. */
const unchecked = defineJob({ name: 'unchecked' });

/** What the bodies of requests order. */
export class JobOrders {
  readonly #definitions: ReadonlyMap<string, JobDefinition>;
  readonly #acceptUnknown: boolean;

  /** @param acceptUnknown jobs of other names are taken too, whatever their arguments are */
  constructor(definitions: readonly JobDefinition[], acceptUnknown: boolean) {
    this.#definitions = new Map(definitions.map((definition) => [definition.name, definition]));
    this.#acceptUnknown = acceptUnknown;
  }

  /** @throws {ApiError} 42202 if there is no such job */
  definitionOf(name: string): JobDefinition {
    const definition = this.#definitions.get(name);
    if (definition !== undefined) return definition;
    if (!this.#acceptUnknown) {
      const known = [...this.#definitions.keys()].join(', ') || 'none';
      throw apiError(42202, `name "${name}" is no job of this application; it has ${known}`);
    }
    return { ...unchecked, name };
  }

  /** @throws {ApiError} 42202 if there is no such job */
  orderOf(body: NewJobBody): JobOrder {
    const { name, args = {}, runAt, ...rest } = body;
    const options: Omit<EnqueueOptions, 'transaction'> = {
      ...rest,
      ...(runAt !== undefined && { runAt: new Date(runAt) }),
    };
    return { definition: this.definitionOf(name), args, options };
  }
}

/**
 * Does what a body asks for; what the platform refuses of it becomes 422.
 *
 * @param at place of the body in the request, for messages: `[3]`, `jobs[3]`
 */
export async function asked<Result>(work: () => Promise<Result> | Result, at = ''): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ApiError ? error : (refusal(problemsOf(error, at)) ?? error);
  }
}

/**
 * Does what several bodies ask for in one go. What is wrong with any of them becomes 422, and each problem names its body.
 *
 * @param at the place of each body in the request; by default `[3]`
 */
export async function askedAll<Result>(
  bodies: readonly NewJobBody[],
  orders: JobOrders,
  work: (orders: JobOrder[]) => Promise<Result>,
  at: Place = (index) => `[${index}]`,
): Promise<Result> {
  const given = await eachAskedInSlices(bodies, at, (body) => orders.orderOf(body));
  return asked(async () => {
    try {
      return await work(given);
    } catch (error) {
      // The client names the first bad arguments; a caller wants to know of all.
      if (error instanceof InvalidArgumentsError)
        await eachAskedInSlices(given, at, ({ definition, args }) => definition.serialize(args));
      throw error;
    }
  });
}

type Place = (index: number) => string;

/** Does what each of a list asks for, and throws what is wrong with any of them, each problem with its place. */
export function eachAsked<Given, Result>(
  list: readonly Given[],
  at: Place,
  work: (one: Given) => Result,
): Result[] {
  const problems = new ProblemList();
  const results = list.flatMap((one, index) => resultOf(() => work(one), at(index), problems));
  problems.throwIfAny();
  return results;
}

/** The same in slices of time between which other requests are served. */
async function eachAskedInSlices<Given, Result>(
  list: readonly Given[],
  at: Place,
  work: (one: Given) => Result,
): Promise<Result[]> {
  const problems = new ProblemList();
  const results = await mapInSlices(list, (one, index) => resultOf(() => work(one), at(index), problems));
  problems.throwIfAny();
  return results.flat(1);
}

/** Empty if it was refused, for problems that are added to those of others. */
function resultOf<Result>(work: () => Result, at: string, problems: ProblemList): [Result] | [] {
  try {
    return [work()];
  } catch (error) {
    const found = problemsOf(error, at);
    if (found.length === 0) throw error;
    problems.addAll(found);
    return [];
  }
}

function refusal([first, ...rest]: readonly Problem[]): ApiError | undefined {
  return first === undefined ? undefined : new ApiError([first, ...rest]);
}

function problemsOf(error: unknown, at: string): Problem[] {
  const place = at === '' ? '' : `${at}.`;
  if (error instanceof ApiError) {
    return error.problems.map((problem) => ({
      ...problem,
      internalMessage: place + problem.internalMessage,
    }));
  }
  if (error instanceof InvalidArgumentsError) {
    return error.problems.map(({ path, message, kind }) => ({
      code: kind === 'missing' ? 42201 : kind === 'unknown' ? 42203 : 42202,
      internalMessage: `${place}${path} ${message}`,
    }));
  }
  const isRefusal = error instanceof RangeError || error instanceof UnknownParentError;
  return isRefusal
    ? [{ code: 42202, internalMessage: at === '' ? error.message : `${at}: ${error.message}` }]
    : [];
}
