import type { JobError } from './job.js';

/** A fingerprint is derived from at most this many characters of the error message. */
export const fingerprintLength = 200;

/**
 * Patterns for the parts of a message that vary between errors of the same kind, each with a placeholder for the
 * matches. They are applied in this order. The Postgres storage applies the same patterns in SQL, so the patterns use
 * only syntax that JavaScript and Postgres share.
 */
export const variableParts: readonly (readonly [pattern: string, placeholder: string])[] = [
  [`'[^']*'|"[^"]*"|\`[^\`]*\``, '<text>'],
  ['[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}', '<id>'],
  ['0x[0-9A-Fa-f]+', '<id>'],
  ['[0-9A-Fa-f]*[0-9][0-9A-Fa-f]{15,}', '<id>'],
  ['[0-9]+', '<n>'],
];

const parts = variableParts.map(([pattern, placeholder]) => [new RegExp(pattern, 'g'), placeholder] as const);

/**
 * Returns a text that is the same for errors of the same kind. It contains the error's name and the first line of the
 * message, truncated to 200 characters. Placeholders replace quoted text, ids and digits.
 *
 * Example: `TypeError: No ship <n> for <text>`.
 */
export function errorFingerprint({ name, message }: Pick<JobError, 'name' | 'message'>): string {
  const [line = ''] = message.split('\n', 1);
  const short = Array.from(line).slice(0, fingerprintLength).join('');
  return `${name}: ${parts.reduce((text, [pattern, placeholder]) => text.replace(pattern, placeholder), short)}`;
}
