import { type ErrorCode, statusOf } from './error-catalogue.js';

/** One thing that is wrong with a request. */
export interface Problem {
  readonly code: ErrorCode;
  /** For developers: what is wrong, where, and what is allowed. */
  readonly internalMessage: string;
}

/**
 * The answer to a request that cannot be served: one or more problems of the same status, and headers such as
 * `Allow`. Thrown by pipeline stages, storages and operations alike; the pipeline turns it into the error payload.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly problems: readonly [Problem, ...Problem[]];
  readonly headers: Readonly<Record<string, string>>;

  constructor(problems: readonly [Problem, ...Problem[]], headers: Readonly<Record<string, string>> = {}) {
    super(problems.map((problem) => problem.internalMessage).join('; '));
    this.problems = problems;
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

/** Gathers problems, so that a request hears of all of them at once. */
export class ProblemList {
  readonly #problems: Problem[] = [];

  add(...problems: readonly Problem[]): void {
    this.#problems.push(...problems);
  }

  /** The result of the step, or undefined after keeping the problems of the ApiError that it threw. */
  collect<Result>(step: () => Result): Result | undefined {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.add(...error.problems);
      return undefined;
    }
  }

  throwIfAny(): void {
    const [first, ...rest] = this.#problems;
    if (first !== undefined) throw new ApiError([first, ...rest]);
  }
}
