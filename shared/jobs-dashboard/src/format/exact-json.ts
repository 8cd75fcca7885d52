import { randomUUID } from 'node:crypto';
import type { JsonValue } from '@longshore/jobs';
import type { JsonText } from '@longshore/jobs/storage';

/** The key that marks exact numbers. It is random, so that no key in the arguments of a job is mistaken for it. */
const mark = randomUUID();
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;

/**
 * Parses JSON without losing digits of large numbers such as `900719925474099312345`. A number that JavaScript would
 * write differently becomes a marked object; {@link exactNumberOf} returns the digits of that object.
 */
export function parseExactly(text: JsonText): JsonValue {
  const marked = text.replaceAll(stringOrNumber, (literal) =>
    literal.startsWith('"') || String(Number(literal)) === literal ? literal : `{"${mark}":"${literal}"}`,
  );
  return JSON.parse(marked) as JsonValue;
}

/** Returns the digits of a number that {@link parseExactly} has marked; `null` for any other object. */
export function exactNumberOf(value: object): string | null {
  return mark in value ? String((value as Record<string, unknown>)[mark]) : null;
}
