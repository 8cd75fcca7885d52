import { bounds, type PauseState } from '@longshore/jobs/storage';
import Type from 'typebox';
import { nullable, text, toTime } from './fields.js';

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

export const pauseFieldNames = ['pausedAt', 'pausedBy', 'pauseReason', 'pausedUntil'] as const;

export function toPauseItem({ pausedAt, pausedBy, pauseReason, pausedUntil }: PauseState) {
  return {
    pausedAt: toTime(pausedAt),
    pausedBy,
    pauseReason,
    pausedUntil: toTime(pausedUntil),
  };
}
