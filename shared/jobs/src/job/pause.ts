import { bounds, checkText, checkTime } from './bounds.js';
import { storable } from './storable.js';

/** The pause of a queue, a job type or a recurring job. All members are `null` if there is no pause. */
export interface PauseState {
  pausedAt: Date | null;
  /** Who paused it; `null` if unknown. */
  pausedBy: string | null;
  /** Why it was paused; `null` if no reason was given. */
  pauseReason: string | null;
  /** When the pause ends automatically; `null` if the pause lasts until someone ends it. */
  pausedUntil: Date | null;
}

/**
 * Options for pausing a queue, a job type or a recurring job. A pause with a different reason or end replaces the
 * current pause.
 */
export interface PauseOptions {
  /** Who starts the pause; truncated to 200 characters. `null` by default. */
  readonly by?: string | null | undefined;
  /** The reason for the pause, 1 to 500 characters. `null` by default. */
  readonly reason?: string | null | undefined;
  /**
   * When the pause ends automatically: a time in the future, at most a year ahead. With `null` (the default), the pause
   * lasts until someone ends it.
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
 * @throws {RangeError} if the reason is empty or too long, or `until` is not a time within the next year
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
 * Returns the time after which due times of a recurring job count again if the job is resumed at `now`. This is `now`
 * while the pause lasts. If the pause has already expired, this is one millisecond before its end, so that due times
 * from the end onwards count.
 */
export function dueTimesCountAfter({ pausedUntil }: PauseState, now: Date): Date {
  return pausedUntil !== null && pausedUntil <= now ? new Date(pausedUntil.getTime() - 1) : now;
}

/** Returns whether a new pause has the same reason and end as the current pause, so that it would change nothing. */
export function isSamePause(state: PauseState, { reason, until }: NewPause): boolean {
  return (
    state.pausedAt !== null &&
    state.pauseReason === reason &&
    state.pausedUntil?.getTime() === until?.getTime()
  );
}

export type Pausable = 'queue' | 'type' | 'recurring';

const actions: Readonly<Record<Pausable, string>> = {
  queue: 'queues/resume',
  type: 'types/resume',
  recurring: 'recurring/resume',
};

/** The actor that the audit log shows for actions that Longshore takes automatically. */
export const automaticActor = 'Longshore';

/** Returns the action name that the audit log shows when a pause ends automatically. */
export function resumeActionOf(kind: Pausable): string {
  return actions[kind];
}

/** The `filter` of audit entries for automatic actions. */
export const automaticFilter = { automatic: true } as const;
