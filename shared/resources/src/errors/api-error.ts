import { brand } from '@longshore/edge';
import { type ErrorCode, statusOf } from './error-catalogue.js';

export interface Problem {
  readonly code: ErrorCode;
  /** For developers: what is wrong, where, and what is allowed. */
  readonly internalMessage: string;
}

/** Maximum number of problems listed in a response. Further problems are only counted. */
export const maxListedProblems = 100;

/**
 * An error that determines the response: one or more problems with the same status, and headers such as `Allow`.
 * Storage functions and the pipeline can throw it. The pipeline converts it to the error payload. To report problems
 * with different statuses, collect them in a {@link ProblemList}.
 */
export class ApiError extends Error {
  static {
    brand(this, 'ApiError');
  }

  override readonly name = 'ApiError';
  /** The first 100 problems. */
  readonly problems: readonly [Problem, ...Problem[]];
  /** The total number of problems, including problems that are not listed. */
  readonly count: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    problems: readonly [Problem, ...Problem[]],
    headers: Readonly<Record<string, string>> = {},
    count = problems.length,
  ) {
    const [first, ...furtherProblems] = problems;
    const status = statusOf(first.code);
    if (furtherProblems.some(({ code }) => statusOf(code) !== status))
      throw new TypeError(
        `A response has one status, not that of each of ${problems.map(({ code }) => code).join()}`,
      );
    const listed: [Problem, ...Problem[]] = [first, ...furtherProblems.slice(0, maxListedProblems - 1)];
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

interface ProblemsOfStatus {
  readonly listed: Problem[];
  count: number;
}

/**
 * Statuses in the order in which a request is checked. If the problems of a request have different statuses, the
 * response has the status that comes first in this list.
 */
const orderOfChecks = [400, 404, 428, 412, 422, 409];

/**
 * Collects the problems of a request, so that they are reported together. A response has only one status. Therefore,
 * only problems with the status that is checked first are reported: up to 100, and their total number.
 */
export class ProblemList {
  readonly #byStatus = new Map<number, ProblemsOfStatus>();

  add(problem: Problem): void {
    this.#addAll([problem], 1);
  }

  addAll(problems: Iterable<Problem>): void {
    for (const problem of problems) this.add(problem);
  }

  /** Adds problems that all have the same status. `count` also counts problems that are not listed. */
  #addAll(problems: readonly [Problem, ...Problem[]], count: number): void {
    const status = statusOf(problems[0].code);
    const ofStatus = this.#byStatus.get(status) ?? { listed: [], count: 0 };
    this.#byStatus.set(status, ofStatus);
    ofStatus.listed.push(...problems.slice(0, maxListedProblems - ofStatus.listed.length));
    ofStatus.count += count;
  }

  /**
   * Runs a step and returns its result. If the step throws an ApiError, collects the problems and returns undefined.
   * Rethrows other errors.
   */
  collect<Result>(step: () => Result): Result | undefined {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#addAll(error.problems, error.count);
      return undefined;
    }
  }

  get isEmpty(): boolean {
    return this.#byStatus.size === 0;
  }

  throwIfAny(): void {
    const rank = (status: number): number => orderOfChecks.indexOf(status) + 1 || Infinity;
    const [highest] = [...this.#byStatus].toSorted(([one], [other]) => rank(one) - rank(other));
    const [first, ...furtherProblems] = highest?.[1].listed ?? [];
    if (highest !== undefined && first !== undefined)
      throw new ApiError([first, ...furtherProblems], {}, highest[1].count);
  }
}
