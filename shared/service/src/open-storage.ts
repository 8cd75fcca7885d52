import { setTimeout as sleep } from 'node:timers/promises';
import { type JobStorage, StorageUnavailableError } from '@longshore/jobs';
import type { Logger } from './logger.js';

const pauseMs = 500;

/**
 * Opens a storage, which migrates its schema. Waits for a database that is still starting, because containers start in any
 * order.
 *
 * @param signal ends the waiting
 * @throws errors that waiting cannot resolve
 */
export async function openStorage(storage: JobStorage, logger: Logger, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await storage.open();
      return;
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      if (attempt % 10 === 1) logger.warn({ err: error }, 'the storage cannot be reached yet; waiting');
    }
    await pause(signal);
  }
}

/** @throws the reason of the signal when it aborts */
async function pause(signal: AbortSignal): Promise<void> {
  await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
}
