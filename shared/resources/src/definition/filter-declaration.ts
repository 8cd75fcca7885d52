import { reservedParameters } from '../query/collection-query.js';
import type { FilterParameter, Match } from '../query/filter.js';
import { type JsonSchema, limited, schemaAt, typesOf } from '../validation/json-schema.js';
import { DefinitionError, requireFieldName } from './naming.js';

/** The name of a field, or the path of a member of one that is an object: `price.amount`. */
export type FieldPath<Field extends string> = Field | `${Field}.${string}`;

/**
 * Declares how a query parameter filters items. A string is the kind of match; the field then has the same name as the
 * parameter. An object names the field explicitly.
 */
export type FilterDeclaration<Field extends string> =
  | 'exact'
  | 'partial'
  | 'path'
  | {
      /** The name of the field; `price.amount` is a member of a field that is an object. */
      readonly field: FieldPath<Field>;
      readonly match: Match;
      /**
       * Whether an `exact` or `path` filter can be given only once; `false` by default. All other filters can
       * only be given once.
       */
      readonly single?: boolean;
      readonly description?: string;
      /** `false` if the reference shows no example, because which values are accepted depends on the time of the request. */
      readonly hasExample?: boolean;
    };

export function compileFilter(
  parameter: string,
  declaration: FilterDeclaration<string>,
  properties: Readonly<Record<string, JsonSchema>>,
): FilterParameter {
  const defaults = { single: false, description: undefined, hasExample: true };
  const { field, match, single, description, hasExample } =
    typeof declaration === 'string'
      ? { ...defaults, field: parameter, match: declaration }
      : { ...defaults, ...declaration };
  requireFieldName(parameter, 'filter');
  if ((reservedParameters as readonly string[]).includes(parameter)) {
    throw new DefinitionError(`filter "${parameter}" has the name of a common parameter`);
  }
  const fieldSchema = schemaAt({ properties }, field);
  if (fieldSchema === undefined)
    throw new DefinitionError(`filter "${parameter}" names no field of the item: "${field}"`);
  const schema = limited(valueSchema(fieldSchema, match));
  if ((match === 'from' || match === 'to') && !typesOf(fieldSchema).some((type) => rangeTypes.has(type))) {
    throw new DefinitionError(`filter "${parameter}": a range needs a field that is a number or a date-time`);
  }
  const isSingle = single || (match !== 'exact' && match !== 'path');
  return {
    parameter,
    field,
    match,
    isSingle,
    schema,
    description: description ?? describe(field, match),
    hasExample,
  };
}

const rangeTypes = new Set(['number', 'integer', 'date-time']);

function valueSchema(field: JsonSchema, match: Match): JsonSchema {
  if (match === 'partial' || match === 'path') return { type: 'string' };
  const element = field.items ?? field;
  const options = element.anyOf?.filter((option) => option.type !== 'null');
  const schema =
    options === undefined ? element : options.length === 1 ? (options[0] ?? element) : { anyOf: options };
  if (match === 'exact') return schema;
  return typesOf(schema).includes('date-time') ? { type: 'string', format: 'date-time' } : { type: 'number' };
}

function describe(field: string, match: Match): string {
  switch (match) {
    case 'exact':
      return `Items whose ${field} is exactly this; may be repeated to match any of several values.`;
    case 'partial':
      return `Items whose ${field} contains this text, regardless of case.`;
    case 'from':
      return `Items whose ${field} is at least this.`;
    case 'to':
      return `Items whose ${field} is at most this.`;
    case 'path':
      return `Items with this value at a path inside ${field}, e.g. \`${field}.orderId=7\`.`;
  }
}
