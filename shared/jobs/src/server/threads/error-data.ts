import { toJobError } from '../../job/failure.js';
import { errorName } from '../../job/error-name.js';
import { isA } from '../../job/is-a.js';
import { printed } from '../../job/storable.js';
import type { ErrorClass } from '../../job/is-a.js';

/**
 * An error in a form that can be sent between threads. Structured cloning of the error itself would lose the error's
 * class.
 */
export interface ErrorData {
  /** The class names of the error, from the most specific class to `Error`. */
  readonly classes: readonly string[];
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: ErrorData | undefined;
  /** The error's other members. Members that cannot be cloned are left out. */
  readonly members: Readonly<Record<string, unknown>>;
}

const maxCauses = 5;

/**
 * Converts a thrown value for another thread. Never throws, even if the value is not an error or its properties cannot
 * be read.
 *
 * @param causes maximum length of the cause chain, including this error; 5 by default
 */
export function toErrorData(thrown: unknown, causes = maxCauses): ErrorData {
  const error = isA(thrown, Error)
    ? thrown
    : new Error(`The handler threw ${printed(thrown)}, which is not an Error`);
  try {
    return {
      classes: classesOf(error),
      name: printed(errorName(error)),
      message: printed(error.message),
      stack: error.stack === undefined ? undefined : printed(error.stack),
      cause: isA(error.cause, Error) && causes > 1 ? toErrorData(error.cause, causes - 1) : undefined,
      members: cloneableMembers(error),
    };
  } catch {
    const { name, message, stack } = toJobError(error);
    return { classes: ['Error'], name, message, stack: stack ?? undefined, cause: undefined, members: {} };
  }
}

/**
 * Restores an error from another thread. Threads do not share classes, so the class is looked up by name.
 *
 * @param errorClasses the classes to search; if none matches, the result is a plain `Error` with the original `name`
 */
export function fromErrorData(data: ErrorData, errorClasses: readonly ErrorClass[]): Error {
  const error = new Error(data.message, data.cause && { cause: fromErrorData(data.cause, errorClasses) });
  const type = data.classes
    .map((name) => errorClasses.find((candidate) => candidate?.name === name))
    .find((candidate) => candidate !== undefined);
  if (type !== undefined) Object.setPrototypeOf(error, type.prototype as object);
  const members: Record<string, unknown> = { ...data.members, name: data.name, stack: data.stack };
  for (const [key, value] of Object.entries(members)) {
    Object.defineProperty(error, key, {
      value,
      configurable: true,
      writable: true,
      enumerable: key in data.members,
    });
  }
  return error;
}

function classesOf(error: Error): string[] {
  const names: string[] = [];
  for (
    let type: unknown = Object.getPrototypeOf(error);
    type instanceof Error;
    type = Object.getPrototypeOf(type)
  ) {
    names.push(type.constructor.name);
  }
  return [...names, 'Error'];
}

function cloneableMembers(error: Error): Record<string, unknown> {
  const { cause: _, ...members } = error as Error & Record<string, unknown>;
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isCloneable(value)));
}

function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
