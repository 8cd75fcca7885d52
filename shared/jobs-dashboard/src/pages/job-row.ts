import type { Job, JobState } from '@longshore/jobs';
import { argsLine } from '../format/args-line.js';
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
  /** When it became ready, of a job that is enqueued and not held back. */
  readonly readyAt: Date | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  /** Why it failed, in one line; `null` if nothing did. */
  readonly error: string | null;
  /** The time that says most about a job in its state. */
  readonly when: When;
}

export interface When {
  /** What happened then, or will. */
  readonly what: 'created' | 'due' | 'ready' | 'started' | 'ended';
  readonly at: Date;
}

const MAX_ERROR = 200;

export function jobRow(job: Job): JobRow {
  const { id, name, queue, state, attempt, maxAttempts, createdAt, runAt, error } = job;
  const { readyAt, startedAt, finishedAt } = job;
  return {
    id,
    name,
    queue,
    state,
    attempt,
    maxAttempts,
    createdAt,
    runAt,
    readyAt,
    startedAt,
    finishedAt,
    error: error === null ? null : firstLine(`${error.name}: ${error.message}`),
    when: whenOf(job),
  };
}

function whenOf({ state, createdAt, runAt, readyAt, startedAt, finishedAt }: Job): When {
  if (finishedAt !== null) return { what: 'ended', at: finishedAt };
  if (readyAt !== null) return { what: 'ready', at: readyAt };
  if (state === 'processing' && startedAt !== null) return { what: 'started', at: startedAt };
  if (state === 'scheduled' && runAt !== null) return { what: 'due', at: runAt };
  return { what: 'created', at: createdAt };
}

/** In a table, where there is room for what it was given. */
export function jobLine(job: Job, pattern: RegExp): JobRow & { readonly given: string } {
  return { ...jobRow(job), given: argsLine(job.args, pattern) };
}

function firstLine(text: string): string {
  return excerpt(text.split(/[\r\n]/, 1)[0] ?? '', MAX_ERROR);
}
