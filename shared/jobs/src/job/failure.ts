import { bounds } from './bounds.js';
import { errorName } from './error-name.js';
import { isA } from './is-a.js';
import type { JobError } from './job.js';
import { printed, storable } from './storable.js';
import { shorten } from '@longshore/edge';
import { fileURLToPath } from 'node:url';

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

/** The packages whose code runs between an application's handler and its caller, or below its transaction. */
const packages = ['jobs', 'jobs-postgres', 'testing'];

const isInstalled = new RegExp(`/node_modules/@longshore/(?:${packages.join('|')})/`);

/** The folders of these packages next to this one. */
const folders = packages.flatMap((name) =>
  ['src', 'dist'].flatMap((folder) => {
    const here: unknown = import.meta.url; // undefined in a CommonJS bundle
    return typeof here === 'string' ? fileURLToPath(new URL(`../../../${name}/${folder}/`, here)) : [];
  }),
);

/**
 * Shortens the stack of an error for people who look for the application's code. Leaves out the lines of Longshore, and
 * states how many there were. A stack with no other lines stays whole. Cuts the message, so that the lines remain.
 *
 * @param name the name of the error; replaces the name that its class inherits from a built-in one
 */
export function readableStack(stack: string, name: string): string {
  const lines = stack.split('\n');
  const first = lines.findIndex(isFrame);
  const whole = (first < 0 ? lines : lines.slice(0, first)).join('\n');
  const head = shorten(whole, bounds.errorMessage.max);
  const frames = first < 0 ? [] : lines.slice(first);
  const keptLines = frames.filter((line) => !isOurs(line));
  const omitted = frames.length - keptLines.length;
  const isWhole = omitted === 0 || !keptLines.some(isFrame);
  const note = `    (${omitted} ${omitted === 1 ? 'line' : 'lines'} of Longshore left out)`;
  return [withName(head, name), ...(isWhole ? frames : [...keptLines, note])].join('\n');
}

function isFrame(line: string): boolean {
  return /^\s*at /.test(line) && !line.includes('node:internal/');
}

function isOurs(line: string): boolean {
  return isInstalled.test(line) || folders.some((folder) => line.includes(folder));
}

function withName(head: string, name: string): string {
  if (head.startsWith(name)) return head;
  return head.replace(/^(?:Aggregate|Eval|Range|Reference|Syntax|Type|URI)?Error(?=:|\n|$)/, () => name);
}
