import { shorten } from '@longshore/edge';
import type { Job, JobError, JobState } from '@longshore/jobs';
import { type BriefJob, maxBriefBytes } from '@longshore/jobs/storage';
import { argsLine } from '../format/json-tokens.js';
import { findSkipCauses, skipReason } from '../diagnosis/skip-cause.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import type { WaitingJob } from '../reading/job-search.js';
import { formatCount } from '../format/count.js';
import { jobsPath, type Term } from '../search/filters.js';
import { awaitedWords, isOpenEnded } from '../diagnosis/waits.js';

/** The data of a job in a list. */
export interface JobRow {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly state: JobState;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  readonly runAt: Date | null;
  /** What a suspended job waits for, such as the names of signals; `null` if it waits for nothing but its time. */
  readonly awaits: string | null;
  /** When an enqueued job became ready; `null` if it is blocked by its concurrency key, or not enqueued. */
  readonly readyAt: Date | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  /** The error as one line; `null` if there is none. */
  readonly error: string | null;
  /** Why the job was skipped; `null` if it was not. */
  readonly skipped: ReturnType<typeof skipReason>;
  /** The time that matters most in the job's current state. */
  readonly when: When;
}

interface When {
  /** What happened or will happen at that time. */
  readonly what: 'created' | 'due' | 'at the latest' | 'ready' | 'started' | 'finished';
  readonly at: Date;
}

const MAX_ERROR = 200;
const LARGE_ARGS = `(more than ${maxBriefBytes / 1_000} kB)`;

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
    awaits: awaitedWords(job.awaits),
    readyAt,
    startedAt,
    finishedAt,
    error: error === null ? null : errorLine(error),
    skipped: skipReason(error),
    when: whenOf(job),
  };
}

export function whenOf({ state, createdAt, runAt, awaits, readyAt, startedAt, finishedAt }: Job): When {
  if (finishedAt !== null) return { what: 'finished', at: finishedAt };
  if (readyAt !== null) return { what: 'ready', at: readyAt };
  if (state === 'processing' && startedAt !== null) return { what: 'started', at: startedAt };
  if (state === 'scheduled' && runAt !== null && !(awaits.length > 0 && isOpenEnded(runAt, createdAt)))
    return { what: awaits.length > 0 ? 'at the latest' : 'due', at: runAt };
  return { what: 'created', at: createdAt };
}

/** A {@link JobRow} of a job that waits, with those that have the same concurrency key. */
interface WaitingRow extends JobRow {
  /** `null` if there are none. */
  readonly others: { readonly key: string; readonly count: string; readonly path: string } | null;
}

export function waitingRow({ job, others }: WaitingJob): WaitingRow {
  const { queue, concurrencyKey: key } = job;
  if (key === null || others.count === 0) return { ...jobRow(job), others: null };
  const terms: Term[] = [
    { key: 'queue', value: queue },
    { key: 'key', value: key },
  ];
  const path = jobsPath({ state: 'enqueued', terms }, { order: 'oldest' });
  return { ...jobRow(job), others: { key, count: formatCount(others), path } };
}

/** A {@link JobRow} with the job's arguments as one line of text. */
export interface JobLine extends JobRow {
  readonly argsText: string;
}

export function jobLine(job: BriefJob, pattern: RegExp): JobLine {
  return { ...jobRow(job), argsText: job.argsOmitted ? LARGE_ARGS : argsLine(job.args, pattern) };
}

/** Names the causes of skipped jobs, which are read with a few statements for all rows. */
export async function withCauses<Row extends JobRow>(
  rows: readonly Row[],
  { reader }: Pick<ReadingContext, 'reader'>,
): Promise<Row[]> {
  const skipped = rows.flatMap(({ id, skipped: reason }) => (reason === null ? [] : [[id, reason] as const]));
  const causes = await findSkipCauses(new Map(skipped), reader);
  return rows.map((row) => {
    const cause = causes.get(row.id);
    return cause === undefined ? row : { ...row, error: firstLine(`Skipped because ${cause.text}`) };
  });
}

function errorLine(error: JobError): string {
  const skipped = skipReason(error);
  return skipped === null
    ? firstLine(`${error.name}: ${error.message}`)
    : `Skipped because a job or batch before it ${skipped.ending}`;
}

function firstLine(text: string): string {
  return shorten(text.split(/[\r\n]/, 1)[0] ?? '', MAX_ERROR, '…');
}
