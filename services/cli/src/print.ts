import { printable } from '@longshore/edge';

/**
 * Writes a line, or several, to standard output. Shows control characters and changes of the direction of text, which
 * can come from jobs, as escapes, so that nothing foreign reaches the terminal raw.
 */
export function print(text: string): void {
  process.stdout.write(`${printable(text, '\n')}\n`);
}

/** Like {@link print}, for standard error. */
export function printError(text: string): void {
  process.stderr.write(`${printable(text, '\n')}\n`);
}
