import type { Resource } from '../definition/resource.js';
import type { FilterParameter } from '../query/filter.js';
import {
  maxOffset,
  maxReasonLength,
  maxSearchLength,
  maxValues,
  maxWaitSeconds,
} from '../query/query-parser.js';
import { type JsonSchema, limited } from '../validation/json-schema.js';
import { completedSchema } from './bounded-schema.js';
import type { ParameterObject } from './document-types.js';
import { exampleOf } from './example.js';

const text = (maxLength: number): JsonSchema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern: String.raw`^[^\u0000]+$`,
});

const headerText = (maxLength: number): JsonSchema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern: String.raw`^[\x20-\x7e]+$`,
});

const cursor: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 4096,
  pattern: String.raw`^[\w-]+$`,
};

/** `*`, or a list of entity tags as in RFC 9110, section 8.8.3. */
const tags: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 4096,
  pattern: String.raw`^(\*|(W/)?"[\x21\x23-\x7e]*"([ \t]*,[ \t]*(W/)?"[\x21\x23-\x7e]*")*)$`,
};

/** Returns the parameters of GET on a collection or, with `bySearch`, on `/search/{keyword}`. */
export function collectionParameters(
  resource: Resource,
  bySearch: boolean,
  seeks: boolean,
): readonly ParameterObject[] {
  const { limits, sort, fields } = resource;
  const terms = sort.flatMap((field) => [field, `-${field}`]);
  return [
    ...selectionParameters(resource, bySearch),
    query(
      'sort',
      'Fields to sort by; `-` is descending, `+` or no sign ascending.',
      list(terms),
      terms.slice(0, 1),
    ),
    query('fields', 'The fields of the items in the response; default: all.', list(fields), [fields[0]]),
    query(
      'limit',
      'Items on a page; 0 returns only the count.',
      {
        type: 'integer',
        format: 'int32',
        minimum: 0,
        maximum: limits.max,
        default: limits.default,
      },
      limits.default,
    ),
    query('offset', `Items to skip.${seeks ? ' Follow the links of pages to go further.' : ''}`, {
      type: 'integer',
      format: 'int32',
      minimum: 0,
      maximum: maxOffset,
      default: 0,
    }),
    ...(seeks
      ? [
          query('after', 'A cursor from a `next` link; excludes `offset`.', cursor),
          query('before', 'A cursor from a `prev` link; excludes `offset`.', cursor),
        ]
      : []),
    header('Prefer', '`count=exact` or `count=none`.', headerText(4096), 'count=exact'),
  ];
}

/** A text with at least one character that is no space. */
const searchText: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: maxSearchLength,
  pattern: String.raw`^[^\u0000]*[^\s\u0000][^\u0000]*$`,
};

export function filterParameters(resource: Resource): readonly ParameterObject[] {
  return [...resource.filters.values()].map(filterParameter);
}

function selectionParameters(resource: Resource, bySearch: boolean): readonly ParameterObject[] {
  const filters = filterParameters(resource);
  if (bySearch || resource.search.length === 0) return filters;
  const fields = resource.search.join(', ');
  const meaning = `Words to search for, regardless of case and despite typos; each must occur in one of ${fields}. Best match first.`;
  return [...filters, query('q', meaning, searchText)];
}

export function itemParameters(resource: Resource, waits: boolean): readonly ParameterObject[] {
  const { fields } = resource;
  return [
    query('fields', 'The fields of the item in the response; default: all.', list(fields), [fields[0]]),
    ...(waits ? [waitParameter] : []),
    header('If-None-Match', 'The ETag that the caller has; 304 if it is current.', tags, '"abc"'),
    header('If-Match', 'The ETag that the item must have, or `*`; otherwise 412.', tags, '*'),
  ];
}

/** Returns the `reason` parameter of a DELETE; no parameter if the resource takes no reason. */
export function reasonParameters({
  deletionReason,
}: Pick<Resource, 'deletionReason'>): readonly ParameterObject[] {
  if (deletionReason === undefined) return [];
  const parameter = query('reason', 'Why; kept in the audit log.', text(maxReasonLength), 'no longer used');
  return [deletionReason === 'required' ? { ...parameter, required: true } : parameter];
}

/** Returns the `If-Match` and `If-None-Match` parameters of a change to one item. */
export function conditionParameters({ ifMatch }: Pick<Resource, 'ifMatch'>): readonly ParameterObject[] {
  const parameter = header('If-Match', 'The ETag that the item must have, or `*`; otherwise 412.', tags, '*');
  return [
    ifMatch === 'required' ? { ...parameter, required: true } : parameter,
    header(
      'If-None-Match',
      'An ETag that the item must not have, or `*` for any; otherwise 412.',
      tags,
      '"abc"',
    ),
  ];
}

/** Returns the `If-Match` and `If-None-Match` parameters of a bulk change. */
export function bulkConditionParameters(resource: Resource): readonly ParameterObject[] {
  const descriptions = [
    'The ETags of the items: each listed item must have one of them, or `*`; otherwise 412.',
    'ETags that none of the listed items may have, or `*` for any; otherwise 412.',
  ];
  return conditionParameters(resource).map((parameter, index) => ({
    ...parameter,
    description: descriptions[index] ?? parameter.description,
  }));
}

export const ifNoneMatch = header(
  'If-None-Match',
  'The ETag of the page that the caller has; 304 if it is current.',
  tags,
  'W/"abc"',
);

const waitParameter = query(
  'wait',
  'Seconds to wait until the item has finished; after that its current state is returned.',
  { type: 'integer', format: 'int32', minimum: 0, maximum: maxWaitSeconds },
  1,
);

/** Returns the `Last-Event-ID` parameter of a stream. */
export function lastEventId({ eventIds }: Pick<Resource, 'eventIds'>): ParameterObject {
  return header(
    'Last-Event-ID',
    'The `id` of the last event received; the stream resumes after it. Browsers send it automatically.',
    { ...headerText(200), ...(eventIds !== undefined && { pattern: eventIds }) },
    '2026-01-01T00:00:00.000Z',
  );
}

export const idempotencyKey = header(
  'Idempotency-Key',
  'A key chosen by the caller: for 24 hours, a repeated request with the same key gets the first response.',
  { type: 'string', minLength: 1, maxLength: 255, pattern: String.raw`^[\x21-\x7e]+$` },
  'order-4711',
);

export const respondAsync = header(
  'Prefer',
  '`respond-async`: 202 with the location of the job that does the work.',
  headerText(4096),
  'respond-async',
);

export function pathParameter(name: string, description: string, schema: JsonSchema): ParameterObject {
  return {
    name,
    in: 'path',
    required: true,
    description,
    schema: completedSchema(limited(schema)),
    example: exampleOf(schema, name.toLowerCase()),
  };
}

/** The schema of a filter on the members of a JSON field. */
export const pathFilterSchema: JsonSchema = {
  type: 'object',
  description: 'The values that members must have, by their paths.',
  maxProperties: 10,
  additionalProperties: text(1000),
};

function filterParameter(filter: FilterParameter): ParameterObject {
  const { parameter, match, isSingle, description, hasExample } = filter;
  const schema = acceptedValue(match, completedSchema(filter.schema));
  const deprecated = filter.schema.deprecated === true ? { deprecated: true } : {};
  if (match === 'path') {
    return {
      name: parameter,
      in: 'query',
      style: 'form',
      explode: true,
      description,
      schema: { $ref: '#/components/schemas/PathFilter' },
      ...deprecated,
    };
  }
  if (isSingle)
    return {
      ...query(parameter, description, schema, hasExample ? boundOf(match, filter.schema) : undefined),
      ...deprecated,
    };
  const values: JsonSchema = { type: 'array', minItems: 1, maxItems: maxValues, items: schema };
  return {
    name: parameter,
    in: 'query',
    style: 'form',
    explode: true,
    description,
    schema: values,
    ...(hasExample && { example: [exampleOf(filter.schema)] }),
    ...deprecated,
  };
}

/** Returns the schema of what a filter accepts: a part of a text has at least one character, and a day is also a time. */
function acceptedValue(match: FilterParameter['match'], schema: JsonSchema): JsonSchema {
  if (match === 'partial') return { ...schema, minLength: 1 };
  if (schema.format !== 'date-time') return schema;
  return { anyOf: [schema, completedSchema({ type: 'string', format: 'date' })] };
}

function list(values: readonly string[]): JsonSchema {
  return {
    type: 'array',
    minItems: 1,
    maxItems: values.length,
    uniqueItems: true,
    items: { type: 'string', enum: values },
  };
}

function query(name: string, description: string, schema: JsonSchema, example?: unknown): ParameterObject {
  const style = schema.type === 'array' ? { style: 'form', explode: false } : {};
  return { name, in: 'query', description, ...style, schema, ...(example !== undefined && { example }) };
}

function header(name: string, description: string, schema: JsonSchema, example: string): ParameterObject {
  return { name, in: 'header', description, schema, example };
}

/**
 * Returns an example for a filter. For times, the upper bound is later than the lower bound, so that both can be
 * combined.
 */
function boundOf(match: string, schema: JsonSchema): unknown {
  const example = exampleOf(schema);
  return match === 'to' && schema.format === 'date-time' ? '2026-01-31T10:30:00Z' : example;
}
