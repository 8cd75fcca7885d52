import { type JobStorage, StorageUnavailableError } from '@longshore/jobs';
import type { Logger } from './logger.js';

const pauseMs = 500;

/**
 * Opens a storage, which brings its schema up to date. A database that is still starting is waited for: containers come up
 * in any order.
 *
 * @param signal ends the waiting
 * @throws what is wrong, if it is something that waiting does not mend
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

async function pause(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, pauseMs);
    function done(): void {
      signal.removeEventListener('abort', done);
      clearTimeout(timer);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    }
    signal.addEventListener('abort', done);
  });
}
