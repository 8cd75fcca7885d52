/** The part of JSON Schema that the OpenAPI documents use. */
export interface Schema {
  readonly description?: string;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly readOnly?: boolean;
}

/**
 * A type that a schema permits. Without `type`, a schema counts as `object` if it has properties, otherwise as `any`.
 */
export type Kind = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'any';

export function kindsOf({ type, properties }: Schema): readonly Kind[] {
  if (type === undefined) return [properties === undefined ? 'any' : 'object'];
  return (typeof type === 'string' ? [type] : type) as readonly Kind[];
}
