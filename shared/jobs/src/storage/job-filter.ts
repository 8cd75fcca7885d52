import { toJsonText } from '../job/arguments.js';
import type { Job, JsonValue } from '../job/job.js';
import { bounds } from '../job/bounds.js';
import { type Check, checkOptions, type OptionNames } from '../job/options.js';
import { type JobState, jobStates } from '../job/state.js';
import {
  hasOptions,
  isBoolean,
  isInteger,
  isListOf,
  isOneOf,
  isStorableTime,
  isText,
} from '../job/argument-check.js';
import { compareTexts, wordsOf } from '@longshore/edge';

/** A condition on one value in a job's arguments. */
export interface ArgsFilter {
  /** The path to the value from the root of the arguments, as member names and zero-based array indexes. */
  readonly path: readonly string[];
  /** The accepted values. Compared as JSON values, so `1` equals `1.0`, but not `"1"`. */
  readonly values: readonly JsonValue[];
}

/**
 * Selects jobs. A job must match every member that is present. Unless stated otherwise, a job matches a list if it
 * matches at least one of the values. An empty list counts as absent. A malformed id matches no job.
 */
export interface JobFilter {
  readonly id?: readonly string[];
  readonly state?: readonly JobState[];
  readonly queue?: readonly string[];
  readonly name?: readonly string[];
  readonly tag?: readonly string[];
  readonly recurringJobId?: readonly string[];
  readonly batchId?: readonly string[];
  /** Jobs with one of these concurrency keys, in any queue. */
  readonly concurrencyKey?: readonly string[];
  /** Jobs that depend or depended on one of these jobs or batches. */
  readonly parentId?: readonly string[];
  /** Jobs that the handler of one of these jobs enqueued. */
  readonly enqueuedBy?: readonly string[];
  /** Jobs with one of these keys for signals. */
  readonly correlate?: readonly string[];
  /** Scheduled jobs whose handler waits for a signal with one of these names. */
  readonly awaits?: readonly string[];
  /** Jobs that are running on one of these servers, and finished jobs whose last attempt ran on one of them. */
  readonly serverId?: readonly string[];
  /** Jobs created at or after this time, according to the time encoded in their ids. */
  readonly createdAfter?: Date;
  /** Jobs created before this time, according to the time encoded in their ids. */
  readonly createdBefore?: Date;
  /** Jobs that finished at or after this time. Unfinished jobs do not match. */
  readonly finishedAfter?: Date;
  /** Jobs that finished before this time. Unfinished jobs do not match. */
  readonly finishedBefore?: Date;
  /** Jobs whose latest attempt started at or after this time. Jobs without an attempt do not match. */
  readonly startedAfter?: Date;
  /** Jobs whose latest attempt started before this time. Jobs without an attempt do not match. */
  readonly startedBefore?: Date;
  /** Jobs whose `runAt` is this time or later. Jobs that were ready at once do not match. */
  readonly dueAfter?: Date;
  /** Jobs whose `runAt` is before this time. Jobs that were ready at once do not match. */
  readonly dueBefore?: Date;
  readonly priority?: readonly number[];
  /** Conditions on the arguments. All of them must match. */
  readonly args?: readonly ArgsFilter[];
  /**
   * Jobs whose latest error contains one of these texts, ignoring case. The searched text is the error's class and
   * message, such as `TypeError: No ship`.
   */
  readonly error?: readonly string[];
  /** Jobs whose latest error has one of these values as its `errorFingerprint`. */
  readonly errorFingerprint?: readonly string[];
  /**
   * Up to ten words separated by spaces. Each word must occur, ignoring case, in the job's name, queue, tags, recurring
   * job id, idempotency key, latest error or arguments (as JSON). `JobReader.search` also tolerates typos. Lists and
   * counts may examine only some jobs of each state (see `JobReader.searchedRange`).
   */
  readonly q?: string;
  /**
   * What `q` and `args` do not see in the arguments: the values that `redact` replaces. The source of a regular expression
   * of keys (see `searchableRedaction`); ignores case. Without it, conditions could be used to guess redacted values.
   * Selects nothing by itself.
   */
  readonly redact?: string;
}

/** The members of a filter that are times. As JSON, they are texts. */
export const filterTimes = [
  'createdAfter',
  'createdBefore',
  'finishedAfter',
  'finishedBefore',
  'startedAfter',
  'startedBefore',
  'dueAfter',
  'dueBefore',
] as const satisfies (keyof JobFilter)[];

const isTexts = isListOf(isText);

const isStorableJson: Check = (what, value) => void toJsonText(value, what);

const filterMembers: OptionNames<JobFilter> = {
  id: isTexts,
  state: isListOf(isOneOf(jobStates)),
  queue: isTexts,
  name: isTexts,
  tag: isTexts,
  recurringJobId: isTexts,
  batchId: isTexts,
  concurrencyKey: isTexts,
  parentId: isTexts,
  enqueuedBy: isTexts,
  correlate: isTexts,
  awaits: isTexts,
  serverId: isTexts,
  createdAfter: isStorableTime,
  createdBefore: isStorableTime,
  finishedAfter: isStorableTime,
  finishedBefore: isStorableTime,
  startedAfter: isStorableTime,
  startedBefore: isStorableTime,
  dueAfter: isStorableTime,
  dueBefore: isStorableTime,
  priority: isListOf(isInteger(bounds.priority)),
  args: isListOf(
    hasOptions<ArgsFilter>({ path: isTexts, values: isListOf(isStorableJson) }, ['path', 'values']),
  ),
  error: isTexts,
  errorFingerprint: isTexts,
  q: isText,
  redact: isText,
};

/**
 * Checks that a filter has only known members, with values of the right kinds. A misspelt member would otherwise select
 * every job, even for deletion.
 *
 * @throws {TypeError} if a member is unknown or of the wrong kind
 * @throws {RangeError} if a state is unknown, or a text contains what Postgres cannot store
 */
export function checkFilter(filter: JobFilter): void {
  checkOptions('A filter of jobs', filter, filterMembers);
}

/** Returns whether a filter contains no conditions, so that it matches every job. */
export function isUnrestricted({ args = [], q, redact: _redact, ...members }: JobFilter): boolean {
  return (
    wordsOf(q).length === 0 &&
    args.every(({ values }) => values.length === 0) &&
    Object.values(members).every(
      (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0),
    )
  );
}

/** The members by which jobs can be sorted. `id` is the order of creation. */
export const jobOrderMembers = [
  'id',
  'finishedAt',
  'startedAt',
  'runAt',
  'priority',
  'concurrencyKey',
] as const;

export type JobOrderMember = (typeof jobOrderMembers)[number];

export interface JobOrderTerm {
  readonly by: JobOrderMember;
  readonly descending: boolean;
}

/**
 * The order of a list: by the first term, then by the next for jobs with equal values. The last term is `id`. Jobs without
 * a value come last in both directions.
 */
export type JobOrder = readonly JobOrderTerm[];

const isTerms = isListOf(
  hasOptions<JobOrderTerm>({ by: isOneOf(jobOrderMembers), descending: isBoolean }, ['by', 'descending']),
);

export const isJobOrder: Check = (what, order) => {
  isTerms(what, order);
  if ((order as JobOrder).at(-1)?.by === 'id') return;
  throw new RangeError(
    `${what} must end with { by: 'id', descending: true } or { by: 'id', descending: false }`,
  );
};

/** The value of each term of the order for a job in the list; times to the millisecond. */
export type JobPlace = readonly (Date | number | string | null)[];

/**
 * Maximum number of matching jobs of each state that are compared to sort a list, where no index has the order. These are
 * the newest ones.
 */
export const maxSorted = 10_000;

/** Returns the place of a job in an order. */
export function placeOf(job: Pick<Job, JobOrderMember>, order: JobOrder): JobPlace {
  return order.map(({ by }) => job[by]);
}

/** Compares two places in an order: negative if the first comes before the second. */
export function comparePlaces(one: JobPlace, other: JobPlace, order: JobOrder): number {
  for (const [index, { by, descending }] of order.entries()) {
    const [left, right] = [one[index] ?? null, other[index] ?? null];
    if ((left === null) !== (right === null)) return left === null ? 1 : -1;
    const compared = compareValues(by, left, right);
    if (compared !== 0) return descending ? -compared : compared;
  }
  return 0;
}

function compareValues(by: JobOrderMember, left: JobPlace[number], right: JobPlace[number]): number {
  if (by === 'concurrencyKey') return compareTexts(String(left), String(right));
  if (by === 'id') return left === right ? 0 : String(left) < String(right) ? -1 : 1;
  return Number(left) - Number(right);
}
