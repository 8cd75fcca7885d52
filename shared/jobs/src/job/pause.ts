import { bounds, checkText, checkTime } from './bounds.js';
import { storable } from './storable.js';

/** The pause of a queue, a job type or a recurring job. All members are `null` if there is no pause. */
export interface PauseState {
  pausedAt: Date | null;
  /** Who paused it; `null` if unknown. */
  pausedBy: string | null;
  /** Why it was paused; `null` if no reason was given. */
  pauseReason: string | null;
  /** When it is resumed automatically; `null` if it stays paused until somebody resumes it. */
  pausedUntil: Date | null;
}

/**
 * Options for pausing a queue, a job type or a recurring job. A pause with a different reason or end replaces the
 * current pause.
 */
export interface PauseOptions {
  /** Who pauses it; truncated to 200 characters. `null` by default. */
  readonly by?: string | null | undefined;
  /** Why it is paused; 1 to 500 characters. `null` by default. */
  readonly reason?: string | null | undefined;
  /**
   * When it is resumed automatically: a time in the future, at most a year ahead. With `null` (the default), it stays
   * paused until somebody resumes it.
   */
  readonly until?: Date | null | undefined;
}

/** Pause options after validation, with defaults filled in. */
export interface NewPause {
  readonly by: string | null;
  readonly reason: string | null;
  readonly until: Date | null;
}

const maxBy = 200;

/** Maximum duration of a pause that ends automatically, in milliseconds: a year. */
export const maxPauseMs = bounds.periodMs.max;

/**
 * Checks pause options and fills in defaults.
 *
 * @param nowMs the current time by the storage's clock, in milliseconds since 1970
 * @throws {RangeError} if the reason is empty or too long, or the end is not in the future or more than a year ahead
 */
export function checkPause(options: PauseOptions, nowMs: number): NewPause {
  const { by, reason, until } = {
    by: options.by ?? null,
    reason: options.reason ?? null,
    until: options.until ?? null,
  };
  return {
    by: by === null ? null : storable(by, maxBy),
    reason: reason === null ? null : checkText('reason', reason, bounds.reasonLength),
    until: until === null ? null : checkPauseEnd(until, nowMs),
  };
}

/** @throws {RangeError} unless `until` is a time in the future, at most a year ahead */
export function checkPauseEnd(until: Date, nowMs: number): Date {
  const inMs = checkTime('until', until).getTime() - nowMs;
  if (inMs > 0 && inMs <= maxPauseMs) return until;
  throw new RangeError(
    `until must be a time in the future, at most a year ahead, not ${until.toISOString()}`,
  );
}

export const notPaused: PauseState = {
  pausedAt: null,
  pausedBy: null,
  pauseReason: null,
  pausedUntil: null,
};

/** Returns the pause state of a queue, job type or recurring job that was paused at `pausedAt` with these options. */
export function pauseSince(pausedAt: Date, { by, reason, until }: NewPause): PauseState & { pausedAt: Date } {
  return { pausedAt, pausedBy: by, pauseReason: reason, pausedUntil: until };
}

/**
 * Returns whether a pause is in effect.
 *
 * @param nowMs the current time by the storage's clock, in milliseconds since 1970
 */
export function isPausedAt({ pausedAt, pausedUntil }: PauseState, nowMs: number): boolean {
  return pausedAt !== null && (pausedUntil === null || pausedUntil.getTime() > nowMs);
}

/**
 * Returns the time after which to look for the next due time of a recurring job that is resumed at `now`. If the pause
 * has already reached its end, returns one millisecond before that end, so that no due time at or after the end is
 * skipped. Otherwise, returns `now`.
 */
export function dueTimesCountAfter({ pausedUntil }: PauseState, now: Date): Date {
  return pausedUntil !== null && pausedUntil <= now ? new Date(pausedUntil.getTime() - 1) : now;
}

/** Returns whether a new pause would change nothing, because the current pause has the same reason and end. */
export function isSamePause(state: PauseState, { reason, until }: NewPause): boolean {
  return (
    state.pausedAt !== null &&
    state.pauseReason === reason &&
    state.pausedUntil?.getTime() === until?.getTime()
  );
}

/** The kinds of things that can be paused. */
export type Pausable = 'queue' | 'type' | 'recurring';

const actions: Readonly<Record<Pausable, string>> = {
  queue: 'queues/resume',
  type: 'types/resume',
  recurring: 'recurring/resume',
};

/** The actor that the audit log shows for actions that Longshore takes automatically. */
export const automaticActor = 'Longshore';

/** Returns the name of the action that the audit log records when a pause ends automatically. */
export function resumeActionOf(kind: Pausable): string {
  return actions[kind];
}

/** The `filter` of audit entries for automatic actions. */
export const automaticFilter = { automatic: true } as const;
