import { isStorable } from '@longshore/edge';
import { type Bounds, checkDelay, checkInteger, checkText, checkTime } from './bounds.js';
import { checkName } from './definition.js';
import { isId, newId } from './id.js';
import { type Check, checkOptions, isOptions, type OptionNames } from './options.js';
import { shown } from './shown.js';

/** Returns a check for values of one type, as `typeof` names it. */
function typed(type: 'string' | 'boolean' | 'function'): Check {
  return (what, value) => {
    if (typeof value !== type) throw new TypeError(`${what} must be a ${type}, not ${shown(value)}`);
  };
}

/** Accepts any string, such as an id: one that has not the form of an id belongs to nothing. */
export const isString = typed('string');

export const isBoolean = typed('boolean');

export const isFunction = typed('function');

/** Accepts a string that Postgres can compare with stored texts. */
export const isText: Check = (what, value) => {
  isString(what, value);
  if (!isStorable(value as string))
    throw new RangeError(`${what} must be a string without NUL and unpaired surrogates`);
};

/** Returns a check for a text within these bounds, in characters. */
export function isTextOf(bounds: Bounds): Check {
  return (what, value) => void checkText(what, value as string, bounds);
}

/** Accepts a string with the form of an id, for a position in a list. */
export const isIdText: Check = (what, value) => {
  if (typeof value !== 'string' || !isId(value))
    throw new RangeError(`${what} must be an id, such as ${newId(0)}, not ${shown(value)}`);
};

/** Accepts a valid name of a job. */
export const isJobName: Check = (what, value) => {
  isString(what, value);
  checkName('job', value as string);
};

/** Accepts a valid name of a queue. */
export const isQueueName: Check = (what, value) => {
  isString(what, value);
  checkName('queue', value as string);
};

/** Accepts a valid Date. */
export const isDate: Check = (what, value) => {
  if (!(value instanceof Date) || Number.isNaN(value.getTime()))
    throw new TypeError(`${what} must be a Date, not ${shown(value)}`);
};

/** Accepts a Date from 1970 to 9999. */
export const isStorableTime: Check = checkTime;

export const isSignal: Check = (what, value) => {
  if (!(value instanceof AbortSignal))
    throw new TypeError(`${what} must be an AbortSignal, not ${shown(value)}`);
};

/** Returns a check for an integer; by default, one that Postgres accepts as the length of a list. */
export function isInteger(bounds: Bounds = { min: 0, max: 2_147_483_647 }): Check {
  return (what, value) => void checkInteger(what, value as number, bounds);
}

/** Accepts a number that is not negative, or infinity. */
export const isSize: Check = (what, value) => {
  if (typeof value !== 'number' || !(value >= 0))
    throw new RangeError(`${what} must be a number of at least 0, not ${shown(value)}`);
};

/** Accepts a number of milliseconds from 0 to ten years. */
export const isDuration: Check = (what, value) => void checkDelay(what, value as number);

/** Returns a check for one of several values. */
export function isOneOf(values: readonly string[]): Check {
  return (what, value) => {
    if (!values.includes(value as string))
      throw new RangeError(`${what} must be one of ${values.join(', ')}, not ${shown(value)}`);
  };
}

/** Returns a check for a list of values. */
export function isListOf(check: Check): Check {
  return (what, value) => {
    if (!Array.isArray(value)) throw new TypeError(`${what} must be a list, not ${shown(value)}`);
    for (const element of value as readonly unknown[]) check(`${what}[]`, element);
  };
}

/** Returns a check that also accepts `undefined`, for a parameter that can be left out. */
export function maybe(check: Check): Check {
  return (what, value) => {
    if (value !== undefined) check(what, value);
  };
}

/** Returns a check that also accepts `null`. */
export function orNull(check: Check): Check {
  return (what, value) => {
    if (value !== null) check(what, value);
  };
}

/** Returns a check for an object with at least these members. */
export function hasMembers<Type>(checks: Readonly<Partial<Record<keyof Type & string, Check>>>): Check {
  return (what, value) => {
    if (!isOptions(value)) throw new TypeError(`${what} must be an object, not ${shown(value)}`);
    for (const [name, check] of Object.entries<Check | undefined>(checks))
      check?.(`${what}.${name}`, Reflect.get(value, name));
  };
}

/**
 * Returns a check for an object with options.
 *
 * @param required the names of the options that must be given
 */
export function hasOptions<Options>(
  names: OptionNames<Options>,
  required: readonly (keyof Options & string)[] = [],
): Check {
  return (what, value) => {
    checkOptions(what, value as object, names);
    for (const name of required) {
      const check = names[name];
      const option = (value as Options)[name];
      if (option === undefined && check !== true) check(`${what}: ${name}`, option);
    }
  };
}

/**
 * Accepts an object that may be an open transaction: whether it can run statements is for the storage to find out, which
 * knows what to pass instead.
 */
export const isTransaction: Check = (what, value) => {
  if ((typeof value === 'object' && value !== null) || typeof value === 'function') return;
  throw new TypeError(
    `${what} must be an open transaction, such as a pg client, not ${shown(value)}; to use none, leave it out`,
  );
};
