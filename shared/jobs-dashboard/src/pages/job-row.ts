import type { Job, JobState } from '@longshore/jobs';
import { excerpt } from '../format/excerpt.js';

/** A job as one line of a list. */
export interface JobRow {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly state: JobState;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  readonly runAt: Date | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  /** Why it failed, in one line; `null` if nothing did. */
  readonly error: string | null;
}

const MAX_ERROR = 200;

export function jobRow(job: Job): JobRow {
  const { id, name, queue, state, attempt, maxAttempts, createdAt, runAt, startedAt, finishedAt, error } =
    job;
  return {
    id,
    name,
    queue,
    state,
    attempt,
    maxAttempts,
    createdAt,
    runAt,
    startedAt,
    finishedAt,
    error: error === null ? null : firstLine(`${error.name}: ${error.message}`),
  };
}

function firstLine(text: string): string {
  return excerpt(text.split(/[\r\n]/, 1)[0] ?? '', MAX_ERROR);
}
