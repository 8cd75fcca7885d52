import { type JsonSchema, typesOf } from '../validation/json-schema.js';

const formats: ReadonlyMap<string, string> = new Map([
  ['uuid', '0198c6e0-7b5e-7c3a-9f2e-3d1b5a7c9e01'],
  ['date-time', '2026-01-31T09:30:00Z'],
  ['date', '2026-01-31'],
  ['email', 'jane@example.com'],
  ['uri', 'https://example.com/'],
]);

/**
 * Returns an example of a request body: the fields with an example, and the required fields without a default.
 *
 * @param omitted fields that the server sets; left out of the example
 */
export function exampleBody(schema: JsonSchema, omitted: readonly string[] = []): unknown {
  const body = exampleOf(schema, 'text', isSent);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([field]) => !omitted.includes(field)));
}

type Inclusion = (object: JsonSchema, field: string) => boolean;

function isSent({ properties, required = [] }: JsonSchema, field: string): boolean {
  const { examples, default: defaultValue } = properties?.[field] ?? {};
  return examples !== undefined || (required.includes(field) && defaultValue === undefined);
}

/**
 * Returns an example value for a schema. Prefers the schema's example, default, constant or first enum value, in this
 * order. Otherwise builds a simple value of the schema's type.
 *
 * @param name the field's name; also used as example text
 * @param isIncluded chooses the fields of objects; default: all
 */
export function exampleOf(schema: JsonSchema, name = 'text', isIncluded: Inclusion = () => true): unknown {
  const [example] = schema.examples ?? [];
  if (example !== undefined) return example;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0] ?? {}, name, isIncluded);
  const [type] = typesOf(schema);
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([field]) => isIncluded(schema, field))
          .map(([field, property]) => [field, exampleOf(property, field, isIncluded)]),
      );
    case 'array':
      return [exampleOf(schema.items ?? {}, name, isIncluded)];
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return exampleText(schema, name);
  }
}

function exampleText(schema: JsonSchema, name: string): string {
  const ofFormat = formats.get(schema.format ?? '');
  if (ofFormat !== undefined) return ofFormat;
  const text = schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(name) ? name : 'example';
  return text.padEnd(schema.minLength ?? 0, 'x').slice(0, schema.maxLength);
}
