import { bounds, checkInteger, checkText } from './bounds.js';
import type { ConflictPolicy, JobKey } from './job-key.js';
import { isFinished, type JobState, jobStates } from './state.js';

const conflictPolicies: readonly ConflictPolicy[] = ['keep', 'replace', 'reject'];

export interface UniquenessOptions {
  /**
   * For how many milliseconds after its creation a job holds its key, 1 to 31 536 000 000 (a year); as long as its state
   * lets it, unless given.
   */
  readonly periodMs?: number;
  /**
   * In which states a job holds its key; by default in all that are not finished. With a finished one `periodMs` must be given, and
   * the key is held no longer than the job is kept.
   */
  readonly states?: readonly JobState[];
  /** What becomes of a job whose key another one holds; `keep` by default. */
  readonly onConflict?: ConflictPolicy;
}

/** Of the jobs of one name in one queue only one at a time holds a key. */
export interface Uniqueness extends UniquenessOptions {
  /** 1 to 200 characters. */
  readonly key: string;
}

/** How a definition makes the key of its jobs. */
export interface UniquenessRule<Args> extends UniquenessOptions {
  /** A text, or a function of the arguments, `null` for a job that may be there twice. Left out: all the arguments. */
  readonly key?: string | ((args: Args) => string | null);
}

/** The states of a job that has not finished. */
const unfinished = jobStates.filter((state) => !isFinished(state));

/**
 * The key that a job of this name is to hold.
 *
 * @throws {RangeError} if the key or an option is out of its bounds
 */
export function uniqueKey(name: string, { key, ...options }: Uniqueness): JobKey {
  checkUniqueness(options);
  const { periodMs = null, states = unfinished, onConflict = 'keep' } = options;
  return { scope: name, key: checkKey('unique', key), states, periodMs, onConflict, fingerprint: null };
}

/** @throws {RangeError} if an option is out of its bounds */
export function checkUniqueness({ periodMs, states, onConflict }: UniquenessOptions): void {
  if (periodMs !== undefined) checkPeriod('periodMs', periodMs);
  if (states !== undefined) {
    const stranger = states.find((state) => !jobStates.includes(state));
    if (states.length === 0 || stranger !== undefined)
      throw new RangeError(
        `A key is held in some of ${jobStates.join(', ')}, not "${stranger ?? 'no state'}"`,
      );
    if (periodMs === undefined && states.some(isFinished))
      throw new RangeError('Finished jobs hold a key for a period: give periodMs, too');
  }
  if (onConflict !== undefined && !conflictPolicies.includes(onConflict))
    throw new RangeError(`onConflict is ${conflictPolicies.join(', ')}, not "${onConflict as string}"`);
}

/** @throws {RangeError} if it is not a text of 1 to 200 characters */
export function checkKey(kind: string, key: string): string {
  return checkText(`A key (${kind})`, key, bounds.keyLength);
}

/** @throws {RangeError} if it is not an integer from 1 to 31 536 000 000: a year */
export function checkPeriod(name: string, periodMs: number): number {
  return checkInteger(name, periodMs, bounds.periodMs);
}
