import { bounds, checkText, checkTime } from './bounds.js';
import { storable } from './storable.js';

/** The pause of a queue, a job type or a recurring job. All members are `null` if it is not paused. */
export interface PauseState {
  pausedAt: Date | null;
  /** Who paused it; `null` if unknown. */
  pausedBy: string | null;
  /** Why it was paused; `null` if no reason was given. */
  pauseReason: string | null;
  /** When it is resumed automatically; `null` if it stays paused until somebody resumes it. */
  pausedUntil: Date | null;
}

/** Options of an action that pauses something. A pause with another reason or end replaces an earlier one. */
export interface PauseOptions {
  /** Who pauses it; cut to 200 characters. `null` by default. */
  readonly by?: string | null | undefined;
  /** Why; 1 to 500 characters. `null` by default. */
  readonly reason?: string | null | undefined;
  /**
   * When it is resumed automatically: a time in the future, at most a year ahead. `null` by default, which means that
   * somebody has to resume it.
   */
  readonly until?: Date | null | undefined;
}

/** The options of a pause, checked and complete. */
export interface NewPause {
  readonly by: string | null;
  readonly reason: string | null;
  readonly until: Date | null;
}

const maxBy = 200;

/** The longest time until a pause ends, in milliseconds: a year. */
export const maxPauseMs = bounds.periodMs.max;

/**
 * Checks the options of a pause.
 *
 * @param nowMs by the storage's clock
 * @throws {RangeError} if the reason is too long, or the end is in the past or more than a year ahead
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

/** @throws {RangeError} unless it is a time in the future, at most a year ahead */
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

/** Returns a pause that begins now. */
export function pauseSince(pausedAt: Date, { by, reason, until }: NewPause): PauseState & { pausedAt: Date } {
  return { pausedAt, pausedBy: by, pauseReason: reason, pausedUntil: until };
}

/** Returns whether something is paused at this time, by the storage's clock. */
export function isPausedAt({ pausedAt, pausedUntil }: PauseState, nowMs: number): boolean {
  return pausedAt !== null && (pausedUntil === null || pausedUntil.getTime() > nowMs);
}

/**
 * Returns the time after which the due times of a recurring job count again when it is resumed at `now`. If its pause has an end
 * and has passed it, due times since then are not part of the pause, and neither is the end itself.
 */
export function resumesAfter({ pausedUntil }: PauseState, now: Date): Date {
  return pausedUntil !== null && pausedUntil <= now ? new Date(pausedUntil.getTime() - 1) : now;
}

/** Returns whether a pause would change nothing, because the same pause is in effect. */
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

/** Who is recorded in the audit for what Longshore does on its own. */
export const automaticActor = 'Longshore';

/** Returns the action that is recorded in the audit when a pause ends by itself. */
export function resumptionOf(kind: Pausable): string {
  return actions[kind];
}

/** What the audit entry of an automatic action has as its filter. */
export const automatic = { automatic: true } as const;
