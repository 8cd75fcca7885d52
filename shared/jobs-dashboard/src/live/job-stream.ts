import { setTimeout } from 'node:timers/promises';
import { isFinished, type Job, type LogLine } from '@longshore/jobs';
import type { DashboardReader } from '../reading/dashboard-reader.js';

/** What is new about a job. */
export type JobEvent =
  | { readonly kind: 'log'; readonly lines: readonly LogLine[]; readonly lastId: string }
  | { readonly kind: 'progress'; readonly progress: NonNullable<Job['progress']> }
  /** It has finished, or it is gone. */
  | { readonly kind: 'end' };

export interface JobStreamOptions {
  readonly everyMs: number;
  /** Ends then, as it does when the job runs no longer, without an end of the job; whoever still looks asks again, and shows again who they are. */
  readonly lifetimeMs: number;
  /** Ends it at once. */
  readonly signal: AbortSignal;
}

const LINES = 200;

/**
 * What a job says of itself from a line of its log on, as it comes. It looks again and again, which viewers of one job share
 * as they share all reads; nothing is kept open but the connections of those who look.
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
    // The job first: what it said before its end is in the log that is read after.
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
