import type { Schema } from './schema.js';

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: boolean;
  readonly explode?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface MediaType {
  readonly schema: Schema;
}

export interface ResponseObject {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, { readonly schema: Schema }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface PathItem {
  readonly parameters?: readonly Parameter[];
  readonly servers?: readonly { readonly url: string }[];
}

/** The parts of an OpenAPI 3.1 document that these checks read. */
export interface OpenApiDocument {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, PathItem & Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** An operation of an API: one method of one path. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** The path in the document, such as `/jobs/{jobId}`. */
  readonly template: string;
  /** The path of the server's URL, such as `/api/v1`; empty for the root. */
  readonly base: string;
  readonly parameters: readonly Parameter[];
  /** The request body by media type; empty if there is none. */
  readonly bodies: Readonly<Record<string, MediaType>>;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/**
 * Returns the operations of a document. Resolves all references except those to the schemas of request and response
 * bodies.
 */
export function operationsOf(document: OpenApiDocument): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([template, item]) =>
    methods.flatMap((method) => {
      const operation = item[method] as OperationObject | undefined;
      if (operation === undefined) return [];
      const server = (item.servers ?? document.servers)[0]?.url ?? '';
      return [
        {
          id: operation.operationId,
          method: method.toUpperCase(),
          template,
          base: new URL(server).pathname.replace(/\/$/, ''),
          parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((parameter) => ({
            ...parameter,
            schema: resolve(document, parameter.schema),
          })),
          bodies: operation.requestBody?.content ?? {},
          responses: resolveResponses(document, operation.responses),
        },
      ];
    }),
  );
}

function resolveResponses(
  document: OpenApiDocument,
  responses: Readonly<Record<string, ResponseObject>>,
): Readonly<Record<string, ResponseObject>> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, given]) => {
      const response = resolve<ResponseObject>(document, given);
      const headers = Object.entries(response.headers ?? {}).map(
        ([name, header]) => [name, resolve<{ schema: Schema }>(document, header)] as const,
      );
      return [status, { ...response, headers: Object.fromEntries(headers) }] as const;
    }),
  );
}

/**
 * Resolves a value that is a reference. Returns any other value unchanged.
 *
 * @throws {Error} if the document lacks the target
 */
export function resolve<Value extends object>(document: OpenApiDocument, value: Value): Value {
  const reference = (value as { $ref?: string }).$ref;
  if (reference === undefined) return value;
  const steps = reference.slice('#/'.length).split('/');
  let target: unknown = document;
  for (const step of steps) target = (target as Readonly<Record<string, unknown>>)[step];
  if (target === undefined) throw new Error(`The document has no ${reference}`);
  return target as Value;
}

/** The result of finding the operation for a request. */
export type Found =
  | { readonly kind: 'operation'; readonly operation: Operation }
  /** The path belongs to the API, but the document lacks the path or the method. */
  | { readonly kind: 'nothing' }
  /** The path is outside the API, or serves the API's documentation. */
  | { readonly kind: 'elsewhere' };

/**
 * Returns a function that finds the operation for a request. The path of the request may start with a gateway's prefix.
 */
export function operationFinder(
  document: OpenApiDocument,
  operations: readonly Operation[],
): (method: string, path: string) => Found {
  const version = /\/api\/[^/]+$/.exec(new URL(document.servers[0]?.url ?? '').pathname)?.[0] ?? '';
  const byPrecision = operations
    .map((operation) => ({ operation, pattern: patternOf(operation, version) }))
    .toSorted((one, other) => parameterCount(one.operation) - parameterCount(other.operation));
  return (method, path) => {
    const [place = ''] = path.split('?');
    const base = place.toLowerCase().indexOf(`${version}/`);
    const below = base < 0 ? place : place.slice(base);
    const matching = byPrecision.filter(({ pattern }) => pattern.test(below));
    const template = matching[0]?.operation.template;
    const wanted = method === 'HEAD' ? 'GET' : method;
    // With a slash at its end, a path is only for reading.
    if (place.endsWith('/') && wanted !== 'GET' && place !== '/')
      return { kind: base < 0 ? 'elsewhere' : 'nothing' };
    const found = matching.find(
      ({ operation }) => operation.template === template && operation.method === wanted,
    );
    if (found !== undefined) return { kind: 'operation', operation: found.operation };
    const isDescribed = base >= 0 && !/^\/(?:$|docs|openapi\.json)/i.test(below.slice(version.length));
    return { kind: isDescribed || matching.length > 0 ? 'nothing' : 'elsewhere' };
  };
}

function patternOf({ template, base }: Operation, version: string): RegExp {
  const place = template.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+');
  const whole = base.endsWith(version) ? `^${version}${place}/?$` : `^(?!.*${version}/).*${place}/?$`;
  return new RegExp(whole, 'i');
}

function parameterCount({ template }: Operation): number {
  return template.split('{').length;
}
