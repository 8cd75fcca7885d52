import type { JobCount, PausedType, PauseState } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { countFigure, type Warning } from './warning.js';

/**
 * Returns text such as “paused by ann 20 min ago: PSP outage, until 07:00”, to complete a sentence that begins with
 * “Queue mail was”. Returns `null` if there is no pause.
 */
export function pauseText(pause: PauseState): Sentence | null {
  const { pausedAt, pausedBy, pauseReason, pausedUntil } = pause;
  if (pausedAt === null) return null;
  const by = pausedBy === null ? '' : ` by ${pausedBy}`;
  const reason = pauseReason === null ? '' : `: ${pauseReason}`;
  const until = pausedUntil === null ? '' : sentence`, until ${{ until: pausedUntil }}`;
  return sentence`paused${by} ${{ at: pausedAt }}${reason}${until}`;
}

/** Returns the sentence “It is resumed automatically at that time.” or, for a pause without an end, `otherwise`. */
export function pauseEnd({ pausedUntil }: PauseState, otherwise: string): string {
  return pausedUntil === null ? otherwise : 'It is resumed automatically at that time.';
}

/** Maximum number of enqueued jobs to read for each type. */
const SAMPLE = 200;
/** Maximum number of paused types whose jobs are read. For the others, it is unknown whether jobs are waiting. */
const MAX_SAMPLED = 20;

/** A paused job type that has waiting jobs, or might have some. */
export interface PausedJobs extends PausedType {
  /** Number of waiting jobs. If it is unknown whether there are any, the number is 0 and not exact. */
  readonly jobs: JobCount;
  /** Queues that contain waiting jobs. May be incomplete, because at most {@link SAMPLE} jobs are read. */
  readonly queues: readonly string[];
}

type Reader = Pick<ReadingContext['reader'], 'jobs' | 'jobTypes'>;

/**
 * Finds the paused job types that have enqueued jobs, or might have some.
 *
 * @param queue limits the search to jobs in this queue; by default, covers all queues
 */
export async function findPausedJobs(reader: Reader, queue?: string): Promise<PausedJobs[]> {
  const paused = await reader.jobTypes.listPaused();
  const sampled = await Promise.all(
    paused.slice(0, MAX_SAMPLED).map((type) => sampleOf(type, queue, reader)),
  );
  const unsampled = paused.slice(MAX_SAMPLED).map((type) => ({ ...type, jobs: unknown, queues: [] }));
  return [...sampled, ...unsampled].filter(({ jobs }) => jobs.count > 0 || !jobs.exact);
}

const unknown: JobCount = { count: 0, exact: false };

async function sampleOf(type: PausedType, queue: string | undefined, { jobs }: Reader): Promise<PausedJobs> {
  const filter = {
    state: ['enqueued'] as const,
    name: [type.name],
    ...(queue === undefined ? {} : { queue: [queue] }),
  };
  const page = await jobs.listBrief({ filter, order: 'oldest', limit: SAMPLE, reach: 'near' });
  const queues = [...new Set(page.jobs.map((job) => job.queue))].toSorted();
  const { length } = page.jobs;
  return { ...type, jobs: { count: length, exact: page.isComplete && length < SAMPLE }, queues };
}

/** Returns the paused types that have jobs waiting in the queue. */
export function pausedIn(queue: string, paused: readonly PausedJobs[]): PausedJobs[] {
  return paused.filter(({ queues }) => queues.includes(queue));
}

export function pausedTypeWarnings(paused: readonly PausedJobs[]): Warning[] {
  return paused.map(({ name, jobs, ...pause }) => ({
    kind: 'type-paused',
    cause: `job type ${name} is paused`,
    text: sentence`Job type “${name}” was ${pauseText(pause) ?? ''}.`,
    ...(jobs.count > 0 && {
      figure: countFigure(jobs.count, 'job waits', 'jobs wait', jobs.exact ? '' : '≥ '),
    }),
    advice: `${waitingText(jobs)} ${pauseEnd(pause, 'Resume it to let them run.')}`,
    link: `types/${encodeURIComponent(name)}`,
    ...(pause.pausedAt !== null && { since: pause.pausedAt }),
    button: { path: `types/${encodeURIComponent(name)}/resume`, word: 'Resume the job type' },
  }));
}

function waitingText({ count, exact }: JobCount): string {
  if (count === 0) return 'Its jobs do not start.';
  return `${exact ? '' : 'At least '}${counted(count, 'job waits', 'jobs wait')}.`;
}
