import type { JobState } from '@longshore/jobs';
import type { AttemptOutcome } from '@longshore/jobs/storage';

/** How a state looks: never by colour alone. `tone` is the CSS class of the colour. */
export interface Look {
  readonly icon: string;
  readonly word: string;
  readonly tone: string;
}

export const stateLook: Readonly<Record<JobState, Look>> = {
  scheduled: { icon: 'clock', word: 'Scheduled', tone: 'scheduled' },
  awaiting: { icon: 'link', word: 'Awaiting', tone: 'awaiting' },
  enqueued: { icon: 'stack', word: 'Enqueued', tone: 'enqueued' },
  processing: { icon: 'half', word: 'Processing', tone: 'processing' },
  done: { icon: 'check', word: 'Done', tone: 'done' },
  failed: { icon: 'cross', word: 'Failed', tone: 'failed' },
  cancelled: { icon: 'slash', word: 'Cancelled', tone: 'cancelled' },
};

export const outcomeLook: Readonly<Record<AttemptOutcome, Look>> = {
  processing: stateLook.processing,
  done: stateLook.done,
  failed: stateLook.failed,
  cancelled: stateLook.cancelled,
  lost: { icon: 'question', word: 'Lost', tone: 'lost' },
};
