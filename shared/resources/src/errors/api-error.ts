import { type ErrorCode, statusOf } from './error-catalogue.js';

/** A single problem of a request. */
export interface Problem {
  readonly code: ErrorCode;
  /** For developers: what is wrong, where, and what is allowed. */
  readonly internalMessage: string;
}

/** How many problems of one request are listed; further ones are only counted. */
export const maxListedProblems = 100;

/**
 * An error with its answer: one or more problems of the same status, and headers such as `Allow`. Pipeline stages, storages
 * and operations throw it; the pipeline turns it into the error payload.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The first 100. */
  readonly problems: readonly [Problem, ...Problem[]];
  /** The total number of problems. */
  readonly count: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    problems: readonly [Problem, ...Problem[]],
    headers: Readonly<Record<string, string>> = {},
    count = problems.length,
  ) {
    const [first, ...rest] = problems;
    const listed: [Problem, ...Problem[]] = [first, ...rest.slice(0, maxListedProblems - 1)];
    super(listed.map((problem) => problem.internalMessage).join('; '));
    this.problems = listed;
    this.count = count;
    this.headers = headers;
  }

  get status(): number {
    return statusOf(this.problems[0].code);
  }
}

/** Returns an error with a single problem. */
export function apiError(
  code: ErrorCode,
  internalMessage: string,
  headers?: Readonly<Record<string, string>>,
): ApiError {
  return new ApiError([{ code, internalMessage }], headers);
}

/** Collects all problems of a request so that they are reported together: the first 100, and the total number. */
export class ProblemList {
  readonly #listed: Problem[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(problem: Problem): void {
    this.#count++;
    if (this.#listed.length < maxListedProblems) this.#listed.push(problem);
  }

  addAll(problems: Iterable<Problem>): void {
    for (const problem of problems) this.add(problem);
  }

  /** Returns the result of the step. If it throws an ApiError, adds its problems and returns undefined. */
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
