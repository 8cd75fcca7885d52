import { fingerprintLength, variableParts } from '@longshore/jobs';
import pg from 'pg';

/** SQL that does what `errorFingerprint` does in TypeScript, given the expression of an error. */
export function fingerprintOfError(error: string): string {
  const line = `left(split_part(${error} ->> 'message', E'\\n', 1), ${fingerprintLength})`;
  const normal = variableParts.reduce(
    (text, [pattern, placeholder]) =>
      `regexp_replace(${text}, ${pg.escapeLiteral(pattern)}, ${pg.escapeLiteral(placeholder)}, 'g')`,
    line,
  );
  return `((${error} ->> 'name') || ': ' || ${normal})`;
}
