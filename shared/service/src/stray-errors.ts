import type { Logger } from './logger.js';

/** A process with more stray errors than this in a minute does nothing else: it ends. */
const mostInAMinute = 1_000;

const minuteMs = 60_000;

/**
 * Keeps the process up when something throws where nobody can catch it: a timer that a job's handler left behind, a listener to
 * its signal, a promise that it does not wait for. The job is not affected; every other job of the process would be.
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
    if (++count > mostInAMinute) {
      logger.fatal({ err: error }, 'too many stray errors');
      process.off('uncaughtException', survive).off('unhandledRejection', survive);
      throw new Error('Too many stray errors', { cause: error }); // which ends the process
    }
    logger.error(
      { err: error },
      'stray error: something that a handler left behind threw where nobody catches it',
    );
  };
  process.on('uncaughtException', survive).on('unhandledRejection', survive);
}
