import { InvalidArgumentsError, type ArgumentProblem } from './errors.js';
import type { JsonText } from './job.js';

/** Maximum nesting depth of arrays and objects. */
const maxDepth = 100;

/** Maximum number of problems that an error lists. */
const maxProblems = 20;

/**
 * Serializes a value to the JSON text that is stored.
 *
 * Accepts `null`, booleans, finite numbers, well-formed strings without NUL, arrays without holes and plain objects,
 * nested up to 100 levels deep. Rejects everything else, because JSON would lose or change it, or Postgres cannot store
 * it.
 *
 * @param root the name of the value in error messages: `args` or `result`
 * @throws {InvalidArgumentsError} with the paths of up to 20 parts that cannot be stored
 */
export function toJsonText(value: unknown, root: string): JsonText {
  if (!isStorable(value, 0)) {
    const problems: ArgumentProblem[] = [];
    inspect(value, root, problems, []);
    if (problems.length > 0) throw new InvalidArgumentsError(problems);
  }
  return JSON.stringify(value);
}

/**
 * Returns the UTF-8 size of a text in bytes if it exceeds `maxBytes`, otherwise `null`. Fast for texts far below the
 * limit.
 */
export function excessBytes(text: JsonText, maxBytes: number): number | null {
  if (text.length * 3 <= maxBytes) return null;
  const bytes = Buffer.byteLength(text);
  return bytes > maxBytes ? bytes : null;
}

/**
 * Returns whether a value can be stored. Called for every job, so it must be fast; {@link inspect} finds the details.
 * Rejects circular references, because they exceed the maximum depth.
 */
function isStorable(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return scalarProblem(value) === null;
  if (depth >= maxDepth) return false;
  if (Array.isArray(value)) {
    // A loop instead of `value.every()`, which skips holes.
    for (let index = 0; index < value.length; index++) if (!isStorable(value[index], depth + 1)) return false;
    return true;
  }
  if (shapeProblem(value) !== null) return false;
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members))
    if (stringProblem(key) !== null || !isStorable(members[key], depth + 1)) return false;
  return true;
}

/**
 * Finds the parts of a value that cannot be stored. Adds them with their paths to `problems`, which holds at most
 * `maxProblems`. Slow, so it is called only after {@link isStorable} has rejected a value.
 */
function inspect(value: unknown, path: string, problems: ArgumentProblem[], ancestors: object[]): void {
  const problem = problemOf(value, ancestors);
  if (problem !== null) {
    if (problems.length < maxProblems) problems.push({ path, message: problem });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  ancestors.push(value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      inspect(value[index], `${path}[${index}]`, problems, ancestors);
    }
  } else {
    for (const [key, member] of Object.entries(value)) {
      const keyProblem = stringProblem(key);
      if (keyProblem !== null && problems.length < maxProblems)
        problems.push({ path: memberPath(path, key), message: `has a key that ${keyProblem}` });
      inspect(member, memberPath(path, key), problems, ancestors);
    }
  }
  ancestors.pop();
}

function problemOf(value: unknown, ancestors: readonly object[]): string | null {
  return typeof value === 'object' && value !== null ? objectProblem(value, ancestors) : scalarProblem(value);
}

function scalarProblem(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
      return stringProblem(value);
    case 'number':
      return Number.isFinite(value) ? null : `is ${value}, which JSON cannot represent`;
    case 'boolean':
    case 'object': // only null; other objects never reach this function
      return null;
    case 'undefined':
      return 'is undefined: leave the member out or pass null';
    case 'bigint':
      return 'is a BigInt: pass it as a string';
    default:
      return `is a ${typeof value}: only data can be stored`;
  }
}

function stringProblem(text: string): string | null {
  if (text.includes('\0')) return 'contains a NUL character';
  return text.isWellFormed() ? null : 'contains half of a surrogate pair';
}

function objectProblem(value: object, ancestors: readonly object[]): string | null {
  if (ancestors.includes(value)) return 'refers back to an object that contains it';
  if (ancestors.length >= maxDepth) return `is nested more than ${maxDepth} levels deep`;
  return Array.isArray(value) ? null : shapeProblem(value);
}

function shapeProblem(value: object): string | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return instanceProblem(value);
  if (Object.getOwnPropertySymbols(value).length > 0) return 'has a symbol as a key';
  return null;
}

function instanceProblem(value: object): string {
  if (value instanceof Date) return 'is a Date: pass toISOString()';
  return `is an instance of ${value.constructor.name || 'a class'}: pass a plain object`;
}

function memberPath(path: string, key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
