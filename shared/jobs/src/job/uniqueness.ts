import { bounds, checkInteger, checkText } from './bounds.js';
import type { ConflictPolicy, JobKey } from './job-key.js';
import { shown } from './shown.js';
import { checkOptions, type OptionNames } from './options.js';
import { isFinished, type JobState, jobStates } from './state.js';
import { fingerprintOf } from './fingerprint.js';
import type { JsonText } from './json.js';

export const conflictPolicies: readonly ConflictPolicy[] = ['keep', 'replace', 'reject'];

export interface UniquenessOptions {
  /**
   * How long a job can hold the key after the job's creation, in milliseconds: 1 to 31,536,000,000 (a year). By
   * default, there is no time limit.
   */
  readonly periodMs?: number;
  /**
   * The states in which a job holds the key; all unfinished states by default. A list with finished states requires
   * `periodMs`. Deleting the job releases the key.
   */
  readonly states?: readonly JobState[];
  /** What happens when a job is enqueued with a key that another job holds; `keep` by default. */
  readonly onConflict?: ConflictPolicy;
}

/** A key that is unique among the jobs with the same name in one queue. */
export interface Uniqueness extends UniquenessOptions {
  /** 1 to 200 characters. */
  readonly key: string;
}

/** How a definition derives the unique key of its jobs. */
export interface UniquenessRule<Args> extends UniquenessOptions {
  /**
   * The key, or a function that computes it from the arguments. If the function returns `null`, duplicates are allowed.
   * By default, the key is derived from all arguments.
   */
  readonly key?: string | ((args: Args) => string | null);
}

/** The unique key of a job, with its defaults filled in. */
export interface JobUniqueness {
  readonly key: string;
  /** How long the job can hold the key after its creation, in milliseconds; `null` if there is no time limit. */
  readonly periodMs: number | null;
  /** The states in which the job holds the key. */
  readonly states: readonly JobState[];
  readonly onConflict: ConflictPolicy;
}

/** The options of a {@link Uniqueness}, and of a {@link UniquenessRule}. */
export const uniquenessOptions: OptionNames<Uniqueness> = {
  key: true,
  periodMs: true,
  states: true,
  onConflict: true,
};

const unfinished = jobStates.filter((state) => !isFinished(state));

/**
 * Builds the job key for a unique key.
 *
 * @throws {RangeError} if the key or an option is out of bounds
 * @throws {TypeError} if an option is unknown
 */
export function uniqueKey(name: string, uniqueness: Uniqueness): JobKey {
  return { namespace: name, ...fullUniqueness('enqueue: unique', uniqueness), fingerprint: null };
}

/**
 * Returns a unique key with its defaults filled in.
 *
 * @param where the function and the option, at the start of the message about an unknown option
 * @throws {RangeError} if the key or an option is out of bounds
 * @throws {TypeError} if an option is unknown
 */
export function fullUniqueness(where: string, uniqueness: Uniqueness): JobUniqueness {
  checkOptions(where, uniqueness, uniquenessOptions);
  const { key, ...options } = uniqueness;
  checkUniqueness(options);
  const { periodMs = null, states = unfinished, onConflict = 'keep' } = options;
  return { key: checkKey('unique', key), states, periodMs, onConflict };
}

/** Returns the options that have given this unique key. */
export function toUniqueness({ key, periodMs, states, onConflict }: JobUniqueness): Uniqueness {
  return { key, states, onConflict, ...(periodMs !== null && { periodMs }) };
}

/** Converts a stored unique key; returns `null` if there is none or it is malformed. */
export function readUniqueness(stored: unknown): JobUniqueness | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const uniqueness = stored as Uniqueness;
  try {
    return fullUniqueness('unique', uniqueness);
  } catch {
    return null;
  }
}

/** @throws {RangeError} if an option is out of bounds */
export function checkUniqueness({ periodMs, states, onConflict }: UniquenessOptions): void {
  if (periodMs !== undefined) checkPeriod('periodMs', periodMs);
  if (states !== undefined) {
    if (!Array.isArray(states))
      throw new RangeError(`unique.states must be a list of states, not ${shown(states)}`);
    const unknown = (states as readonly JobState[]).filter((state) => !jobStates.includes(state));
    if (states.length === 0 || unknown.length > 0)
      throw new RangeError(
        `unique.states must list at least one of ${jobStates.join(', ')}, not ${states.length === 0 ? 'none' : shown(unknown[0])}`,
      );
    if (periodMs === undefined && states.some(isFinished))
      throw new RangeError('unique.states includes finished states, which requires periodMs');
  }
  if (onConflict !== undefined && !conflictPolicies.includes(onConflict))
    throw new RangeError(
      `onConflict must be one of ${conflictPolicies.join(', ')}, not ${shown(onConflict)}`,
    );
}

/** @throws {RangeError} unless `key` is a string of 1 to 200 characters */
export function checkKey(kind: string, key: string): string {
  return checkText(`The ${kind} key`, key, bounds.keyLength);
}

/** @throws {RangeError} unless `periodMs` is an integer from 1 to 31,536,000,000 (a year) */
export function checkPeriod(name: string, periodMs: number): number {
  return checkInteger(name, periodMs, bounds.periodMs);
}

/**
 * Builds the job key for an idempotency key. While the key is valid, a repeated request returns the job of the first
 * request, whatever the job's state.
 *
 * @param periodMs how long the key is valid after the job's creation, in milliseconds
 * @throws {RangeError} unless `key` is a string of 1 to 200 characters
 */
export function idempotencyKey(key: string, name: string, args: JsonText, periodMs: number): JobKey {
  return {
    namespace: '',
    key: checkKey('idempotencyKey', key),
    states: null,
    periodMs,
    onConflict: 'keep',
    fingerprint: fingerprintOf(args, name),
  };
}
