import type { Logger } from './logger.js';
import type { RunningService } from './run-service.js';

/** Registers how to release what a service has just acquired. */
export type OnRelease = (release: () => Promise<unknown>) => void;

/**
 * Starts a service, and makes sure that what it has acquired is released exactly once, last acquired first: when it is
 * stopped, if it cannot start, or if the signal aborts before it has started. Further calls of `stop` return the same
 * promise.
 *
 * @param start acquires what the service needs, and resolves once the service is ready; to a signal that aborts when the
 *   service ends by itself, if it can
 * @throws the error of `start`, or the reason of the signal; nothing is left to release then
 */
export async function startService(
  logger: Logger,
  signal: AbortSignal,
  start: (onRelease: OnRelease) => Promise<AbortSignal | undefined>,
): Promise<RunningService> {
  const releases: (() => Promise<unknown>)[] = [];
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= releaseAll(releases));
  try {
    signal.throwIfAborted();
    const ended = await start((release) => releases.push(release));
    signal.throwIfAborted();
    return { stop, ...(ended !== undefined && { ended }) };
  } catch (error) {
    await stop().catch((failure: unknown) => {
      logger.warn({ err: failure }, 'a service that could not start was not released completely');
    });
    throw error;
  }
}

/**
 * Calls all functions one after another, last one first.
 *
 * @throws the first error, after all have been called
 */
async function releaseAll(releases: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const release of releases.toReversed()) {
    try {
      await release();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
