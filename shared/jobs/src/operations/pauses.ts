import Type, { type Static } from 'typebox';
import { isSamePause, notPaused, type PauseOptions, type PauseState } from '../job/pause.js';
import type { Call } from './operation.js';
import type { Facts } from './operation-description.js';

/** The fields of every operation that pauses something. The reason of the call is the reason of the pause. */
export const PauseFields = Type.Object(
  {
    until: Type.Optional(
      Type.Union([
        Type.String({
          format: 'date-time',
          description:
            'When it is resumed automatically: in the future, at most a year ahead. Default: never, so somebody has to resume it',
          examples: [null],
        }),
        Type.Null(),
      ]),
    ),
  },
  { additionalProperties: false },
);

type PauseCall = Pick<Call<string, Static<typeof PauseFields>, never>, 'fields' | 'by' | 'reason'>;

/** What every declaration of a pause says. */
export const pausing = {
  name: 'pause',
  note: 'If it is already paused, a call with another reason or end replaces these; otherwise it has no effect.',
  done: 'paused',
  role: 'operator',
  isReasoned: true,
  fields: PauseFields,
} as const;

/** What every declaration of a resumption says. */
export const resuming = {
  name: 'resume',
  note: 'Has no effect if it is not paused.',
  done: 'resumed',
  role: 'operator',
} as const;

export function pauseOptionsOf({ fields: { until = null }, by, reason = null }: PauseCall): PauseOptions {
  return { by: by.name, reason, until: until === null ? null : new Date(until) };
}

/** @param before the pause before the call; `null` if there was none */
export function factsOfPause(before: PauseState | null, call: PauseCall): Facts {
  const { reason = null, until = null } = pauseOptionsOf(call);
  return isSamePause(before ?? notPaused, { by: null, reason, until })
    ? { outcome: 'unchanged' }
    : { outcome: 'done' };
}

/** @param before the pause before the call; `null` if there was none */
export function factsOfResumption(before: PauseState | null): Facts {
  return { outcome: (before?.pausedAt ?? null) === null ? 'unchanged' : 'done' };
}
