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
