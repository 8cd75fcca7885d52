/** The subset of JSON Schema that the toolkit reads. Every TypeBox schema conforms to it. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** Members that exclude one another. */
  readonly not?: { readonly required: readonly string[] };
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  /** Used only in the OpenAPI document that the toolkit generates. */
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  readonly readOnly?: boolean;
  readonly deprecated?: boolean;
  readonly $ref?: string;
  /** Hints for fields that callers may expect but that do not exist: the reason, and what to send instead. */
  readonly 'x-unknown-fields'?: Readonly<Record<string, string>>;
}

/** An item of any resource; also used for request bodies and table rows. */
export type ItemRecord = Readonly<Record<string, unknown>>;

/**
 * Returns the types that a schema allows, taken from `anyOf`, `type` or the values of `enum`; empty if it has none of
 * these. `date-time` stands for a string in that format.
 */
export function typesOf(schema: JsonSchema): readonly string[] {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(typesOf);
  if (schema.type === undefined) return (schema.enum ?? []).map(typeOfValue);
  if (schema.type === 'string' && schema.format === 'date-time') return ['date-time'];
  return typeof schema.type === 'string' ? [schema.type] : schema.type;
}

/**
 * Returns the schema of the field at a path, such as `price.amount`; undefined if there is none. An object that can be null
 * counts as the object.
 */
export function schemaAt(schema: JsonSchema, path: string): JsonSchema | undefined {
  return path.split('.').reduce<JsonSchema | undefined>((parent, name) => {
    const object = parent?.anyOf?.find(({ properties }) => properties !== undefined) ?? parent;
    return object?.properties?.[name];
  }, schema);
}

/** Returns the value of the field at a path; null if there is none. */
export function valueAt(item: ItemRecord, path: string): unknown {
  return path.split('.').reduce<unknown>((parent, name) => {
    const isObject = typeof parent === 'object' && parent !== null && Object.hasOwn(parent, name);
    return isObject ? ((parent as ItemRecord)[name] ?? null) : null;
  }, item);
}

/** Returns the schema extended to allow null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return typesOf(schema).includes('null') ? schema : { anyOf: [schema, { type: 'null' }] };
}

function typeOfValue(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

/** Limits for the parts of a body that the schema does not limit. */
const defaultLimits = { characters: 10_000, elements: 1_000, members: 1_000 };

/** Maximum length of text, in characters, by format. */
const charactersOf: ReadonlyMap<string, number> = new Map([
  ['uuid', 36],
  ['date-time', 35],
  ['date', 10],
  ['email', 254],
]);

/**
 * Adds limits to the parts of a schema that have none:
 * - Text, arrays and objects get a maximum size.
 * - Integers get the range that JSON numbers represent exactly.
 * - Objects with listed members allow other members only if the schema does.
 *
 * Parts that allow any JSON are limited only by the size of the body.
 */
export function limited(schema: JsonSchema): JsonSchema {
  if (schema.anyOf !== undefined) return { ...schema, anyOf: schema.anyOf.map(limited) };
  if (schema.enum !== undefined || schema.const !== undefined) return schema;
  const types = typesOf(schema);
  if (types.includes('object')) return limitedObject(schema);
  if (types.includes('array'))
    return {
      maxItems: defaultLimits.elements,
      ...schema,
      ...(schema.items && { items: limited(schema.items) }),
    };
  if (types.includes('integer'))
    return { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...schema };
  if (types.includes('string') || types.includes('date-time')) {
    const maxLength = Math.min(
      schema.maxLength ?? defaultLimits.characters,
      charactersOf.get(schema.format ?? '') ?? Infinity,
    );
    return { ...schema, maxLength };
  }
  return schema;
}

function limitedObject(schema: JsonSchema): JsonSchema {
  const { properties, additionalProperties = properties === undefined } = schema;
  return {
    ...(additionalProperties !== false && { maxProperties: defaultLimits.members }),
    ...schema,
    ...(properties && { properties: mapValues(properties, limited) }),
    additionalProperties:
      typeof additionalProperties === 'object' ? limited(additionalProperties) : additionalProperties,
  };
}

export function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}

/**
 * Converts a JSON pointer to the notation used in messages: `/lines/0/price` → `lines[0].price`.
 *
 * @param start where the pointer starts, such as `[3]`; empty for the whole body
 */
export function fieldPath(pointer: string, start: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), start);
}

export function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
