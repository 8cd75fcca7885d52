import type { JobError } from './job.js';

/** Maximum length of the part of the message that goes into a fingerprint, in characters. */
export const fingerprintLength = 200;

/**
 * The parts of a message that vary between errors of the same kind: a pattern for each, and the placeholder that
 * replaces it. They are replaced in this order. The Postgres storage applies the same patterns in SQL, so they use
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
 * Returns a text that all errors of the same kind share: the class, and the first line of the message, cut to 200
 * characters, in which placeholders replace quoted text, ids and digits.
 *
 * Example: `TypeError: No ship <n> for <text>`.
 */
export function errorFingerprint({ name, message }: Pick<JobError, 'name' | 'message'>): string {
  const [line = ''] = message.split('\n', 1);
  const short = Array.from(line).slice(0, fingerprintLength).join('');
  return `${name}: ${parts.reduce((text, [pattern, placeholder]) => text.replace(pattern, placeholder), short)}`;
}
