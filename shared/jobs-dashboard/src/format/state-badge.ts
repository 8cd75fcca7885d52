import type { JobState } from '@longshore/jobs';
import type { AttemptOutcome, StepState } from '@longshore/jobs/storage';

/**
 * The icon, word and colour of a state. They are shown together, because colour alone is not accessible. `tone` is the
 * CSS class for the colour.
 */
export interface Badge {
  readonly icon: string;
  readonly word: string;
  readonly tone: string;
}

export const stateBadge: Readonly<Record<JobState, Badge>> = {
  scheduled: { icon: 'clock', word: 'Scheduled', tone: 'scheduled' },
  awaiting: { icon: 'link', word: 'Awaiting', tone: 'awaiting' },
  enqueued: { icon: 'stack', word: 'Enqueued', tone: 'enqueued' },
  processing: { icon: 'half', word: 'Running', tone: 'processing' },
  done: { icon: 'check', word: 'Done', tone: 'done' },
  failed: { icon: 'cross', word: 'Failed', tone: 'failed' },
  cancelled: { icon: 'slash', word: 'Cancelled', tone: 'cancelled' },
};

/** Returns the word for a state within a sentence, such as “running” for `processing`. */
export function stateWord(state: JobState): string {
  return stateBadge[state].word.toLowerCase();
}

export const outcomeBadge: Readonly<Record<AttemptOutcome, Badge>> = {
  processing: stateBadge.processing,
  done: stateBadge.done,
  failed: stateBadge.failed,
  cancelled: stateBadge.cancelled,
  lost: { icon: 'question', word: 'Lost', tone: 'lost' },
};

/** `left`: the job ended while the step waited. */
export const stepBadge: Readonly<Record<StepState | 'left', Badge>> = {
  waiting: { icon: 'clock', word: 'Waiting', tone: 'scheduled' },
  done: stateBadge.done,
  failed: stateBadge.failed,
  'timed-out': { icon: 'alert', word: 'Timed out', tone: 'lost' },
  left: { icon: 'slash', word: 'Cut off', tone: 'cancelled' },
};
