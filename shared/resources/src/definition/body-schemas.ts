import { type JsonSchema, limited, mapValues, orNull, typesOf } from '../validation/json-schema.js';

/** The schemas of the bodies that a resource accepts. */
export interface BodySchemas {
  readonly create: JsonSchema;
  readonly replace: JsonSchema;
  /** The body of a merge patch. Objects in it may be incomplete. */
  readonly patch: JsonSchema;
  /**
   * The part of `patch` that is checked before the patch is applied: everything except the values inside objects. Those
   * values are checked in the merged result.
   */
  readonly patchShape: JsonSchema;
  /** One element of a bulk PUT. */
  readonly bulk: JsonSchema;
}

export interface BodySchemaSource {
  readonly item: JsonSchema;
  readonly key: string;
  readonly serverSet: readonly string[];
  readonly create: JsonSchema | undefined;
  readonly bulk: readonly string[] | undefined;
}

/**
 * Derives the body schemas from the item schema. By default, a create body has no server-set fields. Replace and patch
 * bodies can contain these fields, so that clients can send back an item that they have read. The toolkit checks that
 * the values are unchanged. Fields without a limit get a default limit.
 */
export function bodySchemas({ item, key, serverSet, create, bulk }: BodySchemaSource): BodySchemas {
  const properties = item.properties ?? {};
  const required = (item.required ?? []).filter(
    (name) => !serverSet.includes(name) && !hasDefault(properties[name]),
  );
  const replace = closed(
    properties,
    required.filter((name) => name !== key),
  );
  const schemas: BodySchemas = {
    create: closeSchema(create) ?? closed(omit(properties, serverSet), required),
    replace,
    patch: closed(patchProperties(properties, item.required ?? [], patched), []),
    patchShape: closed(patchProperties(properties, item.required ?? [], shape), []),
    bulk:
      bulk === undefined
        ? { ...replace, required: [key, ...(replace.required ?? [])] }
        : closed(pick(properties, [key, ...bulk]), [key]),
  };
  return {
    create: limited(schemas.create),
    replace: limited(schemas.replace),
    patch: limited(schemas.patch),
    patchShape: limited(schemas.patchShape),
    bulk: limited(schemas.bulk),
  };
}

/**
 * Returns the properties of merge-patch bodies (RFC 7396). A null removes an optional field. Objects in a body can be
 * incomplete, because they are merged into the current ones. The merged result is checked afterwards.
 */
function patchProperties(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  convert: (schema: JsonSchema) => JsonSchema,
): Record<string, JsonSchema> {
  return mapValues(properties, (schema, name) => {
    const { default: _default, ...rest } = convert(schema);
    return required.includes(name) ? rest : orNull(rest);
  });
}

/** Returns a schema for merge patches: objects can be incomplete, and null removes an optional property. */
function patched(schema: JsonSchema): JsonSchema {
  if (schema.anyOf !== undefined) return { ...schema, anyOf: schema.anyOf.map(patched) };
  const { properties, required = [], additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(properties && { properties: patchProperties(properties, required, patched) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object'
          ? orNull(patched(additionalProperties))
          : additionalProperties,
    }),
  };
}

/**
 * Returns a schema that only checks the member names of an object and its nested objects. It does not check other
 * values, or whether required members are present. Schemas of other types stay unchanged.
 */
function shape(schema: JsonSchema): JsonSchema {
  if (!typesOf(schema).includes('object')) return schema;
  if (schema.anyOf !== undefined) return { ...schema, anyOf: schema.anyOf.map(shape) };
  if (schema.properties === undefined) return {};
  const { required: _required, ...rest } = schema;
  const members = mapValues(schema.properties, (member) =>
    typesOf(member).includes('object') ? orNull(shape(member)) : {},
  );
  return { ...rest, properties: members };
}

function closeSchema(schema: JsonSchema | undefined): JsonSchema | undefined {
  return schema?.properties === undefined ? schema : { additionalProperties: false, ...schema };
}

function closed(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

function hasDefault(schema: JsonSchema | undefined): boolean {
  return schema !== undefined && 'default' in schema;
}

function omit<Value>(
  record: Readonly<Record<string, Value>>,
  names: readonly string[],
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

function pick<Value>(
  record: Readonly<Record<string, Value>>,
  names: readonly string[],
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));
}
