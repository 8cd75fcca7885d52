import { setTimeout as sleep } from 'node:timers/promises';
import { outageOf } from '@longshore/jobs/storage';
import type { Logger } from './logger.js';

const pauseMs = 500;

/**
 * Runs a start-up task, and repeats it while the storage cannot be reached. Containers start in any order, and the
 * database may be restarting.
 *
 * @param work the task; must be safe to repeat after failing halfway
 * @param signal prevents the next try when it aborts
 * @throws the signal's reason if the signal aborts before the task has succeeded, and every error of `work` other than a `StorageUnavailableError`
 */
export async function whenAvailable<Result>(
  work: () => Promise<Result>,
  logger: Logger,
  signal: AbortSignal,
): Promise<Result> {
  const outage = outageOf(logger);
  for (;;) {
    signal.throwIfAborted();
    try {
      const result = await work();
      outage.succeeded(work);
      return result;
    } catch (error) {
      if (!outage.failed(work, error)) throw error;
    }
    await pause(signal);
  }
}

/** @throws the signal's reason if the signal aborts */
async function pause(signal: AbortSignal): Promise<void> {
  await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
}
