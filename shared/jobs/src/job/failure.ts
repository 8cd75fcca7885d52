import { bounds } from './bounds.js';
import { errorName } from './error-name.js';
import { isA } from './is-a.js';
import type { JobError } from './job.js';
import { readableStack } from './readable-stack.js';
import { printed, storable } from './storable.js';

// Limits in characters. Every failed attempt stores its error, so errors must stay small.
const maxName = bounds.errorName.max;
const maxMessage = bounds.errorMessage.max;
const maxStack = 16_000;

/**
 * Maximum number of errors in a stored cause chain, including the thrown error. The number is limited because causes
 * can form a cycle.
 */
const maxCauses = 5;

/**
 * Converts any thrown value to an error for storage. Never throws: if a member cannot be read or printed, a note
 * replaces it.
 */
export function toJobError(thrown: unknown): JobError {
  if (!isA(thrown, Error)) return { name: 'NonErrorThrown', message: describe(thrown), stack: null };
  const stack = stackWithCauses(thrown);
  return {
    name: storable(read(thrown, 'name') ?? '', maxName) || 'Error',
    message: storable(read(thrown, 'message') ?? '', maxMessage),
    stack: stack === null ? null : storable(stack, maxStack),
  };
}

/** Reads a member of an error. Returns a note if the read throws, as it can for a getter or a proxy. */
function read(error: Error, member: 'name' | 'message' | 'stack' | 'cause'): unknown {
  try {
    return member === 'name' ? errorName(error) : error[member];
  } catch {
    return `a ${member} that cannot be read`;
  }
}

function stackWithCauses(error: Error): string | null {
  const parts: string[] = [];
  for (let link: unknown = error; isA(link, Error) && parts.length < maxCauses; link = read(link, 'cause')) {
    const stack = read(link, 'stack');
    if (stack === undefined && link === error) return null;
    const name = printed(read(link, 'name'));
    parts.push(readableStack(printed(stack ?? `${name}: ${printed(read(link, 'message'))}`), name));
  }
  return parts.join('\nCaused by: ');
}

function describe(thrown: unknown): string {
  if (typeof thrown === 'string') return storable(thrown, maxMessage);
  try {
    return storable(JSON.stringify(thrown) ?? typeof thrown, maxMessage);
  } catch {
    return 'a value that cannot be printed';
  }
}
