import type { JsonSchema } from '../validation/json-schema.js';
import type { Tag, TagGroup } from './tags.js';

/** The subset of OpenAPI 3.1 that the generator uses. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: readonly {
    readonly url: string;
    readonly description: string;
    readonly 'x-internal': boolean;
  }[];
  readonly tags: readonly Tag[];
  /** Groups of tags, in the order in which the reference shows them. */
  readonly 'x-tagGroups': readonly TagGroup[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly headers: Readonly<Record<string, HeaderObject>>;
    readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
}

export interface Reference {
  readonly $ref: string;
}

/** The operations of a path, by method, and the `parameters` that they share. */
export type PathItem = Readonly<Record<string, unknown>>;

export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly deprecated?: true;
  /** The scope that the operation requires. */
  readonly 'x-scope'?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: Readonly<Record<string, unknown>>;
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly description: string;
  readonly required?: boolean;
  readonly style?: string;
  readonly explode?: boolean;
  readonly schema: JsonSchema;
  readonly deprecated?: boolean;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown; readonly 'x-disabled': boolean }>>;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderObject | Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
  readonly links?: Readonly<Record<string, LinkObject>>;
}

export interface MediaType {
  readonly schema: JsonSchema | Reference;
  readonly example?: unknown;
  /** Examples by name. Corresponding examples of a request and its response have the same name. */
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

/** A link from a response to an operation. `parameters` maps each parameter to a runtime expression. */
export interface LinkObject {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface HeaderObject {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export function isReference(value: object): value is Reference {
  return '$ref' in value;
}
