import { isA } from '../../job/is-a.js';
import type { NewStep } from '../../job/step.js';

/** A failed step, with the error that the handler got. */
interface Failure {
  step: NewStep;
  readonly thrown: unknown;
  /** Whether the storage has it as it is here. */
  isStored: boolean;
}

/**
 * The steps that have failed in this attempt. Their errors are remembered once the handler has gone on after them: once it
 * has started another step, or has ended without throwing them. They are stored together with the next step, or at the end.
 */
export class StepFailures {
  #failures: Failure[] = [];

  /** @param isStored whether the step is stored, with its error remembered */
  add(step: NewStep, thrown: unknown, isStored: boolean): void {
    this.#failures.push({ step, thrown, isStored });
  }

  /** Called when the handler goes on. */
  remember(): void {
    for (const failure of this.#failures)
      if (!failure.step.isRemembered) {
        failure.step = { ...failure.step, isRemembered: true };
        failure.isStored = false;
      }
  }

  /** Called when the attempt ends with this error: what caused it is not remembered. */
  forget(thrown: unknown): void {
    const causes = causesOf(thrown);
    for (const failure of this.#failures)
      if (failure.step.isRemembered && causes.has(failure.thrown)) {
        failure.step = { ...failure.step, isRemembered: false };
        failure.isStored = false;
      }
  }

  /** Returns the failures that are not stored yet, and counts them as stored: only the remembered ones, or all. */
  take(which: 'remembered' | 'all'): NewStep[] {
    const taken = this.#failures.filter(
      ({ step, isStored }) => !isStored && (which === 'all' || step.isRemembered),
    );
    for (const failure of taken) failure.isStored = true;
    return taken.map(({ step }) => step);
  }
}

/** Maximum number of errors that are looked at, because causes can form a cycle. */
const maxErrors = 1_000;

/** Returns an error with its causes, and those of the errors that it aggregates. */
function causesOf(thrown: unknown): ReadonlySet<unknown> {
  const found = new Set<unknown>([thrown]);
  for (const error of found) {
    if (found.size >= maxErrors || !isA(error, Error)) continue;
    if (error.cause !== undefined) found.add(error.cause);
    if (isA(error, AggregateError)) for (const each of error.errors as unknown[]) found.add(each);
  }
  return found;
}
