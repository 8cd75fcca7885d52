import { brand } from '@longshore/edge';

/** What callers of the API can create, and quotas limit. */
export type CreatedKind = 'queue' | 'recurring job' | 'deployment';

/** How many things of a kind may exist that callers have created. */
export interface QuotaLimits {
  /** Maximum number for each caller. */
  readonly perCaller: number;
  /** Maximum number for all callers together. */
  readonly total: number;
}

/** How many things of a kind exist that callers have created. */
export interface QuotaUse {
  readonly byCaller: number;
  readonly total: number;
}

const remedies: Readonly<Record<CreatedKind, string>> = {
  queue: 'use one that exists, or delete those that are no longer used (DELETE /queues/{queue})',
  'recurring job':
    'change one that exists, or delete those that are no longer used (DELETE /recurring-jobs/{id})',
  deployment: 'delete the records that are no longer needed (DELETE /deployments/{id})',
};

/** Thrown if a caller may create no more queues, recurring jobs or deployments. Nothing was created. */
export class QuotaExceededError extends RangeError {
  static {
    brand(this, 'QuotaExceededError');
  }

  override readonly name = 'QuotaExceededError';

  /** @param item the first thing that does not fit in */
  constructor(kind: CreatedKind, item: string, coming: number, use: QuotaUse, limits: QuotaLimits) {
    const isOwn = use.byCaller + coming > limits.perCaller;
    const who = isOwn ? 'you have' : 'all callers together have';
    const [used, limit] = isOwn ? [use.byCaller, limits.perCaller] : [use.total, limits.total];
    super(
      `The quota does not allow ${whatOf(kind, item, coming)}: ${who} created ${used} of at most ${limit} ${kind}s; ${remedies[kind]}, or ask the operator to raise the quota`,
    );
  }
}

/** Names what does not fit in. The caller has not seen the ids of deployments that were not recorded. */
function whatOf(kind: CreatedKind, item: string, coming: number): string {
  if (kind === 'deployment') return 'another deployment';
  return coming === 1 ? `the ${kind} "${item}"` : `"${item}" and ${coming - 1} other ${kind}s`;
}

/**
 * Checks that a caller may create these things.
 *
 * @param items the things that do not exist yet
 * @throws {QuotaExceededError} if the caller, or all callers together, would have too many
 */
export function checkQuota(
  kind: CreatedKind,
  items: readonly string[],
  use: QuotaUse,
  limits: QuotaLimits,
): void {
  const coming = items.length;
  const fits = use.byCaller + coming <= limits.perCaller && use.total + coming <= limits.total;
  if (coming > 0 && !fits) throw new QuotaExceededError(kind, items[0] ?? '', coming, use, limits);
}

/** How long an admitted thing counts although it does not exist yet, in milliseconds. */
export const admissionMs = 60_000;

/**
 * Limits what callers of the API create. Only what is created on behalf of a caller counts; what an application's code
 * defines does not, nor do queues that a registered server consumes.
 */
export interface Quotas {
  /**
   * Admits things that a caller is about to create. Those that exist already are ignored. An admitted thing counts until it
   * is deleted, or for {@link admissionMs} if it is never created.
   *
   * @param caller identifies the caller
   * @throws {QuotaExceededError} if the limits would be exceeded; nothing is admitted then
   */
  admit(kind: CreatedKind, items: readonly string[], caller: string, limits: QuotaLimits): Promise<void>;
  /**
   * Creates the queues of an application's definitions, so that they exist whatever callers create. They no longer count
   * towards the quota of a caller.
   *
   * @throws {TooManyQueuesError} if a queue does not exist and there can be no more
   */
  defineQueues(queues: readonly string[]): Promise<void>;
}
