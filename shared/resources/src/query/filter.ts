import { completeTime, parseInteger, parseNumber, parseUuid, shorten } from '@longshore/edge';
import { apiError } from '../errors/api-error.js';
import { type JsonSchema, typesOf } from '../validation/json-schema.js';
import { validatorFor } from '../validation/validator.js';

/**
 * How a query parameter is compared with a field:
 * - `exact`: case-sensitive equality. An array matches if it contains the value.
 * - `partial`: case-insensitive substring.
 * - `from` and `to`: inclusive bounds of a number or a time.
 * - `path`: equality with a member of a JSON field, compared as text. The parameter is `field.member.member`.
 *
 * If an `exact` or `path` parameter is repeated, any of its values can match.
 */
export type Match = 'exact' | 'partial' | 'from' | 'to' | 'path';

/** A validated filter declaration. */
export interface FilterParameter {
  readonly parameter: string;
  readonly field: string;
  readonly match: Match;
  /** Whether the parameter may be given only once. */
  readonly isSingle: boolean;
  readonly schema: JsonSchema;
  readonly description: string;
  /** Whether the reference shows an example of a value. */
  readonly hasExample: boolean;
}

/** Maximum number of levels in the path of a `path` filter. */
const maxPathDepth = 10;

/** One condition of a query. If there are several values, an item matches if it has any of them. */
export interface Filter {
  readonly parameter: string;
  readonly field: string;
  readonly match: Match;
  /** The path below the JSON field, for a `path` filter: `args.order.id` → `['order', 'id']`. */
  readonly path: readonly string[];
  /** Strings, numbers or booleans, according to the field's schema; times as RFC 3339 strings. */
  readonly values: readonly (string | number | boolean)[];
}

/**
 * Finds the filter for a parameter name. The name can contain a path, such as `args.order.id`. Returns undefined if
 * there is no such filter.
 */
export function findFilter(
  filters: ReadonlyMap<string, FilterParameter>,
  name: string,
): FilterParameter | undefined {
  const dot = name.indexOf('.');
  const filter = filters.get(dot < 0 ? name : name.slice(0, dot));
  return filter !== undefined && (filter.match === 'path') === dot > 0 ? filter : undefined;
}

/** @throws {ApiError} 40003 if the values or the path are invalid */
export function parseFilter(filter: FilterParameter, name: string, values: readonly string[]): Filter {
  const { field, match } = filter;
  const path = match === 'path' ? name.split('.').slice(1) : [];
  if (path.includes('')) throw apiError(40003, `${shorten(name, 100)} has an empty member name`);
  if (path.length > maxPathDepth)
    throw apiError(40003, `${shorten(name, 100)} must name a member at most ${maxPathDepth} levels deep`);
  if (filter.isSingle && values.length > 1) {
    throw apiError(40003, `${name} must be given once`);
  }
  if (match === 'partial' && values[0] === '') throw apiError(40003, `${name} must not be empty`);
  return {
    parameter: name,
    field,
    match,
    path,
    values: values.map((text) => parseValue(filter.schema, name, text)),
  };
}

/**
 * Parses a value by its schema.
 * @throws {ApiError} 40003 if the value does not match the schema
 */
export function parseValue(schema: JsonSchema, name: string, text: string): string | number | boolean {
  const value = parseScalar(schema, text);
  const [problem] =
    value === undefined ? [`must be ${typesOf(schema).join(' or ')}`] : validatorFor(schema).explain(value);
  if (value === undefined || problem !== undefined) {
    throw apiError(40003, `${name} ${problem ?? 'is invalid'}, not "${shorten(text, 100)}"`);
  }
  return value;
}

/**
 * Parses a value from a URL. Returns undefined if the text cannot be a value of the schema's types. A UUID becomes lower
 * case. A day that stands for a time becomes the start of the day in UTC.
 */
function parseScalar(schema: JsonSchema, text: string): string | number | boolean | undefined {
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
