import type { JobError } from './job.js';

/** Longer messages do not differ where it matters. */
export const fingerprintLength = 200;

/**
 * What varies between errors of one kind, and what stands for it; in this order. The Postgres storage does the same in SQL, so
 * the patterns keep to what both kinds of regular expressions read alike.
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
 * What errors of one kind have in common: the class and the first line of the message, cut to 200 characters, with quoted
 * text, ids and digits replaced. `TypeError: No ship <n> for <text>`
 */
export function errorFingerprint({ name, message }: Pick<JobError, 'name' | 'message'>): string {
  const [line = ''] = message.split('\n', 1);
  const short = Array.from(line).slice(0, fingerprintLength).join('');
  return `${name}: ${parts.reduce((text, [pattern, placeholder]) => text.replace(pattern, placeholder), short)}`;
}
