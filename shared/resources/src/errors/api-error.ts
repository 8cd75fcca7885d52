import { type ErrorCode, statusOf } from './error-catalogue.js';

/** One thing that is wrong with a request. */
export interface Problem {
  readonly code: ErrorCode;
  /** For developers: what is wrong, where, and what is allowed. */
  readonly internalMessage: string;
}

/** Problems of one request that are listed; the others are only counted. */
export const listedProblems = 100;

/**
 * The answer to a request that cannot be served: one or more problems of the same status, and headers such as
 * `Allow`. Thrown by pipeline stages, storages and operations alike; the pipeline turns it into the error payload.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The first 100. */
  readonly problems: readonly [Problem, ...Problem[]];
  /** How many problems there are in all. */
  readonly count: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    problems: readonly [Problem, ...Problem[]],
    headers: Readonly<Record<string, string>> = {},
    count = problems.length,
  ) {
    const [first, ...rest] = problems;
    const listed: [Problem, ...Problem[]] = [first, ...rest.slice(0, listedProblems - 1)];
    super(listed.map((problem) => problem.internalMessage).join('; '));
    this.problems = listed;
    this.count = count;
    this.headers = headers;
  }

  get status(): number {
    return statusOf(this.problems[0].code);
  }
}

/** An error with a single problem. */
export function apiError(
  code: ErrorCode,
  internalMessage: string,
  headers?: Readonly<Record<string, string>>,
): ApiError {
  return new ApiError([{ code, internalMessage }], headers);
}

/** Gathers problems, so that a request hears of all of them at once: the first 100, and how many there are. */
export class ProblemList {
  readonly #listed: Problem[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(problem: Problem): void {
    this.#count++;
    if (this.#listed.length < listedProblems) this.#listed.push(problem);
  }

  addAll(problems: Iterable<Problem>): void {
    for (const problem of problems) this.add(problem);
  }

  /** The result of the step, or undefined after keeping the problems of the ApiError that it threw. */
  collect<Result>(step: () => Result): Result | undefined {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.addAll(error.problems);
      this.#count += error.count - error.problems.length;
      return undefined;
    }
  }

  throwIfAny(): void {
    const [first, ...rest] = this.#listed;
    if (first !== undefined) throw new ApiError([first, ...rest], {}, this.#count);
  }
}
