import { completeTime, parseInteger, parseNumber, parseUuid } from '@longshore/edge';
import { type JsonSchema, typesOf } from './json-schema.js';

/**
 * Parses a value from a URL. Returns undefined if the text cannot be a value of the schema's types. A UUID becomes lower
 * case. A day that stands for a time becomes the start of the day in UTC.
 */
export function parseScalar(schema: JsonSchema, text: string): string | number | boolean | undefined {
  const types = typesOf(schema);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const number = types.includes('number')
    ? parseNumber(text)
    : types.includes('integer')
      ? parseInteger(text)
      : undefined;
  if (number !== undefined) return number;
  if (types.includes('date-time')) return completeTime(text);
  if (types.length > 0 && !types.includes('string')) return undefined;
  return isUuid(schema) ? (parseUuid(text) ?? text) : text;
}

function isUuid({ format, anyOf = [] }: JsonSchema): boolean {
  return format === 'uuid' || anyOf.some(isUuid);
}
