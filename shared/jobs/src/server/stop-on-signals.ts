import { isFunction, isListOf } from '../job/argument-check.js';
import { consoleLogger } from './logger.js';

/** The signals with which platforms and terminals ask a process to stop. */
type StopSignal = 'SIGTERM' | 'SIGINT';

/** Releases something that a process uses. */
export type StopStep = () => unknown;

/**
 * Returns what becomes of the first SIGTERM or SIGINT: `signal` aborts, and `requested` resolves to its name. From then on,
 * the process reacts to signals as Node.js does by default, so the next one ends it at once.
 */
export function onStopSignal(): { readonly signal: AbortSignal; readonly requested: Promise<StopSignal> } {
  const stopping = new AbortController();
  const requested = new Promise<StopSignal>((resolve) => {
    const stop = (name: StopSignal): void => {
      process.off('SIGTERM', stop).off('SIGINT', stop);
      stopping.abort(new Error(`The process was stopped by ${name}`));
      resolve(name);
    };
    process.on('SIGTERM', stop).on('SIGINT', stop);
  });
  return { signal: stopping.signal, requested };
}

/**
 * Calls the steps one after another.
 *
 * @throws the first error, after all have been called
 */
export async function runSteps(steps: readonly StopStep[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/**
 * Stops the process cleanly when it receives SIGTERM or SIGINT: calls the steps one after another, awaits each, and ends the
 * process, with exit code 0. If a step fails, the others run nevertheless; the error is written to standard error, and the
 * exit code is 1. A second signal ends the process at once.
 *
 * List what receives work first, and what the others need last:
 *
 * ```ts
 * stopOnSignals([() => app.close(), () => server.stop(), () => storage.close()]);
 * ```
 *
 * @throws {TypeError} if `steps` is not a list of functions
 */
export function stopOnSignals(steps: readonly StopStep[]): void {
  isListOf(isFunction)('stopOnSignals: steps', steps);
  void onStopSignal()
    .requested.then(() => runSteps(steps))
    .then(
      () => process.exit(0),
      (error: unknown) => {
        consoleLogger.error({ err: error }, 'the process could not stop cleanly');
        process.exit(1);
      },
    );
}
