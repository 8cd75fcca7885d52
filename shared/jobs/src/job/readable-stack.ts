import { shorten } from '@longshore/edge';
import { fileURLToPath } from 'node:url';
import { bounds } from './bounds.js';

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
  const others = frames.filter((line) => !isOurs(line));
  const omitted = frames.length - others.length;
  const isWhole = omitted === 0 || !others.some(isFrame);
  const note = `    (${omitted} ${omitted === 1 ? 'line' : 'lines'} of Longshore left out)`;
  return [withName(head, name), ...(isWhole ? frames : [...others, note])].join('\n');
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
