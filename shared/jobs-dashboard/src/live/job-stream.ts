import { setTimeout } from 'node:timers/promises';
import type { Job } from '@longshore/jobs';
import { isFinished, type LogLine } from '@longshore/jobs/storage';
import type { DashboardReader } from '../reading/dashboard-reader.js';

/** An event in the stream of a running job. */
export type JobEvent =
  | { readonly kind: 'log'; readonly lines: readonly LogLine[]; readonly lastId: string }
  | { readonly kind: 'progress'; readonly progress: NonNullable<Job['progress']> }
  /** The job has finished or has been removed. */
  | { readonly kind: 'end' };

export interface JobStreamOptions {
  readonly everyMs: number;
  /**
   * Approximate time, in milliseconds, after which the stream ends without an `end` event. The browser then reconnects
   * and is authenticated again.
   */
  readonly lifetimeMs: number;
  /** Ends the stream when aborted. */
  readonly signal: AbortSignal;
}

const LINES = 200;

/**
 * Polls a job, and yields its progress and new log lines.
 *
 * @param after the id of the last log line to skip; `null` to start at the first line
 */
export async function* jobStream(
  id: string,
  after: string | null,
  reader: DashboardReader,
  { everyMs, lifetimeMs, signal }: JobStreamOptions,
): AsyncGenerator<JobEvent> {
  let lastId = after;
  let sent = '';
  for (let leftMs = lifetimeMs; leftMs > 0; leftMs -= everyMs) {
    // Reads the job first, so that the log read afterwards is complete if the job has finished.
    const job = await reader.jobs.find(id);
    const lines = await reader.reports.listLogs(id, {
      limit: LINES,
      ...(lastId === null ? {} : { after: lastId }),
    });
    lastId = lines.at(-1)?.id ?? lastId;
    if (lines.length > 0 && lastId !== null) yield { kind: 'log', lines, lastId };
    const progress = job?.progress ?? null;
    if (progress !== null && JSON.stringify(progress) !== sent) {
      sent = JSON.stringify(progress);
      yield { kind: 'progress', progress };
    }
    const caughtUp = lines.length < LINES;
    if (caughtUp && (job === null || isFinished(job.state))) {
      yield { kind: 'end' };
      return;
    }
    if (caughtUp && job?.state !== 'processing') return;
    if (caughtUp) await pause(everyMs, signal);
    if (signal.aborted) return;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
