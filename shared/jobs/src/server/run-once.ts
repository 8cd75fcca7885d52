import { isSignal } from '../job/argument-check.js';
import { checkOptions } from '../job/options.js';
import { JobServer } from './job-server.js';
import { type JobServerOptions, serverOptions } from './server-options.js';

export interface RunOnceOptions extends JobServerOptions {
  /**
   * Ends the run early when it aborts, as `JobServer.stop` does: running jobs have `stopTimeoutMs` to finish, and the others
   * are left for the next run. For a time limit, pass `AbortSignal.timeout(ms)`. None by default.
   */
  signal?: AbortSignal;
}

/** What a call of {@link runOnce} has done: the number of attempts by how they ended. */
export interface RunReport {
  readonly done: number;
  /** Jobs that failed and will not be retried. */
  readonly failed: number;
  /** Attempts that failed and will be retried. */
  readonly retrying: number;
  readonly cancelled: number;
  readonly snoozed: number;
  /** Attempts whose handler began to wait. */
  readonly suspended: number;
  /** `false` if the run ended before everything that was ready had run: by the signal, or by an operator. */
  readonly drained: boolean;
}

const ends = ['done', 'failed', 'retrying', 'cancelled', 'snoozed', 'suspended'] as const;

/**
 * Runs the jobs that are ready in the queues of the handlers, and those that they make ready, until none is left. Then
 * stops, and resolves to what it has done. For processes that a scheduler starts: cron, a job of Kubernetes, a serverless
 * function. {@link JobServer.drained} defines when nothing is left. Several runs at once, in any processes, share the jobs:
 * each ends when it finds no more, while others may still be running theirs.
 *
 * Takes the options of a `JobServer`. The storage must be open, and stays open. A failed job does not reject.
 *
 * @throws {StorageUnavailableError} if the storage cannot be reached at the start
 * @throws {TypeError} if an option is unknown or of the wrong kind
 * @throws {RangeError} if an option is out of bounds, or two handlers have the same job name
 */
export async function runOnce(options: RunOnceOptions): Promise<RunReport> {
  checkOptions('runOnce', options, { ...serverOptions, signal: isSignal });
  const { signal, ...ofServer } = options;
  const server = new JobServer(ofServer);
  const counts = { done: 0, failed: 0, retrying: 0, cancelled: 0, snoozed: 0, suspended: 0 };
  for (const end of ends) server.on(end, () => counts[end]++);
  const stop = (): void => void server.stop();
  if (signal?.aborted === true) return { ...counts, drained: false };
  signal?.addEventListener('abort', stop);
  let drained = false;
  try {
    await server.start();
    drained = await server.drained();
  } finally {
    signal?.removeEventListener('abort', stop);
    await server.stop();
  }
  return { ...counts, drained }; // running jobs can finish while the server stops
}
