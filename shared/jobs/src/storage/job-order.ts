import { compareTexts } from '@longshore/edge';
import { hasOptions, isBoolean, isListOf, isOneOf } from '../job/argument-check.js';
import type { Job } from '../job/job.js';
import type { Check } from '../job/options.js';

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
