import type { Resource } from '../definition/resource.js';
import type { FilterParameter } from '../query/filter.js';
import { farthestOffset, longestSearch, longestWait, mostValues } from '../query/query-parser.js';
import type { JsonSchema } from '../validation/json-schema.js';
import { bounded } from './bounded-schema.js';
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
  maxLength,
  pattern: String.raw`^[\x20-\x7e]+$`,
});

/** The parameters of GET on a collection. */
export function collectionParameters(
  resource: Resource,
  bySearch: boolean,
  seeks: boolean,
): readonly ParameterObject[] {
  const { limits, sort, fields } = resource;
  const terms = sort.flatMap((field) => [field, `-${field}`]);
  return [
    ...selectionParameters(resource, bySearch),
    query('sort', 'Fields to sort by; `-` is descending, `+` or no sign ascending.', list(terms), [terms[0]]),
    query('fields', 'The fields of the items in the answer; default: all.', list(fields), [fields[0]]),
    query('limit', 'Items on a page; 0 gives none and the count.', {
      type: 'integer',
      format: 'int32',
      minimum: 0,
      maximum: limits.max,
      default: limits.default,
    }),
    query('offset', `Items to skip.${seeks ? ' Pages farther on are reached by the links of pages.' : ''}`, {
      type: 'integer',
      format: 'int32',
      minimum: 0,
      maximum: farthestOffset,
      default: 0,
    }),
    ...(seeks
      ? [
          query('after', 'A cursor from a `next` link; excludes `offset`.', text(4096)),
          query('before', 'A cursor from a `prev` link; excludes `offset`.', text(4096)),
        ]
      : []),
    header('Prefer', '`count=exact` or `count=none`.', headerText(200), 'count=exact'),
  ];
}

/** The parameters that choose items: filters and search. */
export function selectionParameters(resource: Resource, bySearch: boolean): readonly ParameterObject[] {
  const filters = [...resource.filters.values()].map(filterParameter);
  if (bySearch || resource.search.length === 0) return filters;
  const fields = resource.search.join(', ');
  const meaning =
    resource.searchBy === 'words'
      ? `Words, every one of which is contained in one of ${fields}, whatever the case.`
      : `Text to look for in ${fields}: contained or similar, best first.`;
  return [...filters, query('q', meaning, text(longestSearch))];
}

/** The parameters of GET on an item. */
export function itemParameters(resource: Resource, waits: boolean): readonly ParameterObject[] {
  const { fields } = resource;
  return [
    query('fields', 'The fields of the item in the answer; default: all.', list(fields), [fields[0]]),
    ...(waits ? [waitParameter] : []),
    header(
      'If-None-Match',
      'The ETag that the caller has; if it is current the answer is 304.',
      headerText(4096),
      '"abc"',
    ),
    header('If-Match', 'The ETag that the item must have; 412 if it has another.', headerText(4096), '"abc"'),
  ];
}

/** `If-Match` and `If-None-Match` on changes. */
export function conditionParameters({ ifMatch }: Pick<Resource, 'ifMatch'>): readonly ParameterObject[] {
  const parameter = header(
    'If-Match',
    'The ETag of the item that the change is meant for, or `*`; 412 if the item has another by now.',
    headerText(4096),
    '"abc"',
  );
  return [
    ifMatch === 'required' ? { ...parameter, required: true } : parameter,
    header(
      'If-None-Match',
      'An ETag that the item must not have; with `*` there must be no item: 412 if there is.',
      headerText(4096),
      '"abc"',
    ),
  ];
}

const waitParameter = query(
  'wait',
  'Seconds to wait for the end, if it has not come yet; then the item as it is.',
  { type: 'integer', format: 'int32', minimum: 0, maximum: longestWait },
  30,
);

export const lastEventId = header(
  'Last-Event-ID',
  'The last `id` that the listener has had: it hears what followed. Browsers send it by themselves.',
  headerText(200),
  '2026-01-01T00:00:00.000Z',
);

export const idempotencyKey = header(
  'Idempotency-Key',
  'A key of the caller’s choice: a repeated request with the same key gets the first answer, for 24 hours.',
  { type: 'string', minLength: 1, maxLength: 255, pattern: String.raw`^[\x21-\x7e]+$` },
  'order-4711',
);

export const respondAsync = header(
  'Prefer',
  '`respond-async`: 202 with the location of the job that does the work.',
  headerText(200),
  'respond-async',
);

export function pathParameter(name: string, description: string, schema: JsonSchema): ParameterObject {
  const limited = bounded(schema);
  return {
    name,
    in: 'path',
    required: true,
    description,
    schema: limited,
    example: exampleOf(schema, name.toLowerCase()),
  };
}

function filterParameter(filter: FilterParameter): ParameterObject {
  const { parameter, match, description } = filter;
  const schema = bounded(filter.schema);
  if (match === 'path') {
    const member: JsonSchema = { type: 'object', maxProperties: 10, additionalProperties: text(1000) };
    return { name: parameter, in: 'query', style: 'form', explode: true, description, schema: member };
  }
  if (match !== 'exact') return query(parameter, description, schema);
  const values: JsonSchema = { type: 'array', maxItems: mostValues, items: schema };
  return {
    name: parameter,
    in: 'query',
    style: 'form',
    explode: true,
    description,
    schema: values,
    example: [exampleOf(filter.schema)],
  };
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

function query(
  name: string,
  description: string,
  schema: JsonSchema,
  example: unknown = exampleOf(schema),
): ParameterObject {
  const style = schema.type === 'array' ? { style: 'form', explode: false } : {};
  return { name, in: 'query', description, ...style, schema, example };
}

function header(name: string, description: string, schema: JsonSchema, example: string): ParameterObject {
  return { name, in: 'header', description, schema, example };
}
