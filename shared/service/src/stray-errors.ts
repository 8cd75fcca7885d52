import type { Logger } from './logger.js';

/** Maximum number of stray errors per minute. Beyond it, the process ends. */
const maxPerMinute = 1_000;

const minuteMs = 60_000;

/**
 * Keeps the process running when an error is thrown where nothing can catch it. Such errors come from timers and
 * listeners that a handler left behind, or from promises that no code awaits. Otherwise one handler could end all jobs
 * of the process.
 */
export function surviveStrayErrors(logger: Logger): void {
  let count = 0;
  let sinceMs = performance.now();
  const survive = (error: unknown): void => {
    const nowMs = performance.now();
    if (nowMs - sinceMs > minuteMs) {
      count = 0;
      sinceMs = nowMs;
    }
    if (++count > maxPerMinute) {
      logger.fatal({ err: error }, 'too many stray errors');
      process.off('uncaughtException', survive).off('unhandledRejection', survive);
      throw new Error('Too many stray errors', { cause: error }); // ends the process
    }
    logger.error(
      { err: error },
      'stray error: an uncaught error from a timer, listener or promise that a handler left behind',
    );
  };
  process.on('uncaughtException', survive).on('unhandledRejection', survive);
}
