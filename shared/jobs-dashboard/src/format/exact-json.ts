import { randomUUID } from 'node:crypto';
import type { JsonValue } from '@longshore/jobs';
import type { JsonText } from '@longshore/jobs/storage';

/** Unknown to whoever writes arguments, so that nothing in them can be mistaken for it. */
const mark = randomUUID();
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;

/** Parses JSON so that numbers keep the digits that a JavaScript number has not, as in `900719925474099312345`; `exactNumberOf` finds them. */
export function parseExactly(text: JsonText): JsonValue {
  const marked = text.replaceAll(stringOrNumber, (literal) =>
    literal.startsWith('"') || String(Number(literal)) === literal ? literal : `{"${mark}":"${literal}"}`,
  );
  return JSON.parse(marked) as JsonValue;
}

/** The digits of a number that `parseExactly` has kept; `null` for anything else. */
export function exactNumberOf(value: object): string | null {
  return mark in value ? String((value as Record<string, unknown>)[mark]) : null;
}
