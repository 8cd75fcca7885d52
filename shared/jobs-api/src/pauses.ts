import {
  bounds,
  checkPauseEnd,
  isSamePause,
  type PauseOptions,
  type PauseState,
} from '@longshore/jobs/storage';
import { apiError, type CallContext } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { nullable, text, toTime } from './fields.js';
import { Reason } from './reasons.js';

/** The fields of an item that describe its pause. Every resource whose items can be paused has these fields. */
export const pauseFields = {
  pausedAt: nullable(
    Type.String({ format: 'date-time', description: 'When it was paused; null if it is not' }),
  ),
  pausedBy: nullable(Type.String({ maxLength: 200, description: 'Who paused it; null if unknown' })),
  pauseReason: nullable(text(bounds.reasonLength, 'Why it was paused; null if no reason was given')),
  pausedUntil: nullable(
    Type.String({
      format: 'date-time',
      description: 'When it is resumed automatically; null if somebody has to resume it',
    }),
  ),
};

/** A note on pause operations for the API reference. */
export const pauseNote =
  'If it is already paused, a call with another reason or end replaces these; otherwise it has no effect.';

export const pauseFieldNames = ['pausedAt', 'pausedBy', 'pauseReason', 'pausedUntil'] as const;

export function pauseBody(requiresReason: boolean) {
  return Type.Object(
    {
      reason: requiresReason ? Reason : Type.Optional(Reason),
      until: Type.Optional(
        nullable(
          Type.String({
            format: 'date-time',
            description:
              'When it is resumed automatically: in the future, at most a year ahead. Default: never, so somebody has to resume it',
            examples: [null],
          }),
        ),
      ),
    },
    { additionalProperties: false },
  );
}

export type PauseBody = Static<ReturnType<typeof pauseBody>>;

/**
 * Converts the body of a pause request to options for the storage.
 * @throws {ApiError} 42202 if `until` has already passed or is more than a year ahead
 */
export function pauseOptions(
  { reason, until = null }: PauseBody,
  { principal }: CallContext,
  nowMs: number,
): PauseOptions {
  return {
    by: principal?.name ?? null,
    reason: reason ?? null,
    until: until === null ? null : checkedEnd(new Date(until), nowMs),
  };
}

function checkedEnd(until: Date, nowMs: number): Date {
  try {
    return checkPauseEnd(until, nowMs);
  } catch (error) {
    throw apiError(42202, (error as RangeError).message);
  }
}

/**
 * Returns whether a pause request changes anything.
 *
 * @param before the state before the request; `null` if the pause was not carried out
 */
export function replacesPause(before: PauseState | null, options: PauseOptions): boolean {
  if (before === null) return false;
  return !isSamePause(before, { by: null, reason: options.reason ?? null, until: options.until ?? null });
}

export function toPauseItem({ pausedAt, pausedBy, pauseReason, pausedUntil }: PauseState) {
  return {
    pausedAt: toTime(pausedAt),
    pausedBy,
    pauseReason,
    pausedUntil: toTime(pausedUntil),
  };
}
