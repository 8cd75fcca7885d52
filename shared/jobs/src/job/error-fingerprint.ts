import type { JobError } from './job.js';

/** Fingerprints are cut to this length, in characters. */
export const fingerprintLength = 200;

/**
 * The parts that vary between errors of one kind, with their placeholders, in order of replacement. The Postgres
 * storage does the same in SQL, so the patterns use only syntax that JavaScript and Postgres share.
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
 * Returns what errors of one kind have in common: the class and the first line of the message, with quoted text, ids
 * and digits replaced, cut to 200 characters. Example: `TypeError: No ship <n> for <text>`.
 */
export function errorFingerprint({ name, message }: Pick<JobError, 'name' | 'message'>): string {
  const [line = ''] = message.split('\n', 1);
  const short = Array.from(line).slice(0, fingerprintLength).join('');
  return `${name}: ${parts.reduce((text, [pattern, placeholder]) => text.replace(pattern, placeholder), short)}`;
}
