import { singularOf } from '../definition/naming.js';
import { type JsonSchema, mapValues, typesOf } from '../validation/json-schema.js';
import { describedMembers, ended, fieldWords } from './wording.js';

/** Name of the schema that allows any JSON value. */
const anyJson = 'JsonValue';

/**
 * Names the objects and unions that are nested in schemas, so that code generators create types for them. For example,
 * the object in the field `error` of `Job` becomes the schema `JobError`. Equal objects share one schema. The name
 * comes from the object's `title` or, without a title, from the first field that contains the object.
 */
export class NamedParts {
  readonly #taken: Set<string>;
  readonly #nameOf = new Map<string, string>();
  readonly #parts = new Map<string, JsonSchema>();

  /** @param taken names of other schemas in the document */
  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** The schemas found so far, by name. */
  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(this.#parts);
  }

  /** Registers a schema under a name, so that equal objects in other schemas refer to it. */
  register(name: string, schema: JsonSchema): void {
    this.#nameOf.set(keyOf(schema), name);
  }

  /** Moves the objects and unions in the schema's fields to `schemas`, and puts references in their place. */
  separate(owner: string, schema: JsonSchema): JsonSchema {
    return {
      ...schema,
      ...(schema.properties && {
        properties: mapValues(schema.properties, (field, name) => this.#separateField(owner, name, field)),
      }),
      ...(typeof schema.additionalProperties === 'object' && {
        additionalProperties: this.#separateField(owner, 'value', schema.additionalProperties),
      }),
    };
  }

  #separateField(owner: string, field: string, schema: JsonSchema): JsonSchema {
    if (schema.$ref !== undefined) return schema;
    if (schema.items !== undefined)
      return { ...schema, items: this.#separateField(owner, singularOf(field), schema.items) };
    if (schema.anyOf !== undefined && !isChoice(schema))
      return { ...schema, anyOf: schema.anyOf.map((one) => this.#separateField(owner, field, one)) };
    const { description, default: defaultValue, examples, ...structure } = schema;
    if (Object.keys(structure).length > 0 && !isObject(structure) && !isChoice(structure)) return schema;
    return {
      ...(description !== undefined && { description }),
      ...(defaultValue !== undefined && { default: defaultValue }),
      ...(examples !== undefined && { examples }),
      $ref: `#/components/schemas/${this.#nameFor(owner, field, structure, description)}`,
    };
  }

  #nameFor(owner: string, field: string, structure: JsonSchema, description: string | undefined): string {
    const key = keyOf(structure);
    const assignedName = this.#nameOf.get(key);
    if (assignedName !== undefined) return assignedName;
    const isAny = Object.keys(structure).length === 0;
    const { title } = structure;
    const name = isAny
      ? anyJson
      : this.#freeName(title ?? owner + field.charAt(0).toUpperCase() + field.slice(1));
    const words = fieldWords(field);
    this.#taken.add(name);
    this.#nameOf.set(key, name);
    this.#parts.set(name, {
      description: isAny ? 'Any JSON.' : ended(title ?? description ?? `The ${words}`),
      ...describedMembers(this.separate(name, structure), words),
    });
    return name;
  }

  #freeName(wanted: string): string {
    return this.#taken.has(wanted) ? this.#freeName(`${wanted}Object`) : wanted;
  }
}

/** Returns whether a schema has several alternatives other than null. */
function isChoice({ anyOf = [] }: JsonSchema): boolean {
  return anyOf.filter(({ type }) => type !== 'null').length > 1;
}

/** Returns whether a schema accepts only objects, or objects and null. */
function isObject(schema: JsonSchema): boolean {
  const types = typesOf(schema).filter((type) => type !== 'null');
  return schema.anyOf === undefined && types.length === 1 && types[0] === 'object';
}

/** Returns a key for comparing schemas. The key ignores the top-level description and the order of members. */
function keyOf({ description: _description, ...structure }: JsonSchema): string {
  return JSON.stringify(structure, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}
