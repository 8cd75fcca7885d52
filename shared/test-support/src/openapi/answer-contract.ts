import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parseJson } from './json.js';
import {
  type Operation,
  operationFinder,
  operationsOf,
  type OpenApiDocument,
  resolve,
} from './operations.js';
import type { ReceivedAnswer, SentRequest } from './exchange.js';
import { applicableSchema } from './promised-schema.js';
import type { Schema } from './schema.js';

/**
 * A difference between a response and the OpenAPI document. The same kind of difference has the same `fault` in every
 * response.
 */
export interface Breach {
  readonly fault: string;
  /** The part that is specific to this response. */
  readonly detail: string;
}

/** Options of Ajv. The compiled code checks only a few responses, so optimizing it would not pay off. */
const options = {
  strict: false,
  validateFormats: true,
  inlineRefs: false,
  code: { optimize: false },
} as const;

/** Statuses of requests that never reach an operation: too slow (408), or with an unsupported `Expect` header (417). */
const beforeOperations = new Set([408, 417]);

/**
 * Checks responses against an OpenAPI document. Compiles schemas on first use, once per document. Registers each
 * component separately, because Ajv would otherwise compile a component again for each reference to it.
 */
export class AnswerContract {
  readonly #ajv = formats.default(new Ajv2020(options));
  readonly #validators = new Map<Schema, ValidateFunction>();
  /**
   * Validators by the JSON of their schema. Lets equal schemas share a validator, such as those for errors and headers,
   * which are the same in most operations.
   */
  readonly #validatorsByText = new Map<string, ValidateFunction>();
  readonly #find: ReturnType<typeof operationFinder>;
  readonly #document: OpenApiDocument;

  constructor(document: OpenApiDocument) {
    this.#document = document;
    for (const [name, schema] of Object.entries(document.components.schemas))
      this.#ajv.addSchema(JSON.parse(absolute(schema)) as Schema, placeOfSchemas + name);
    this.#find = operationFinder(document, operationsOf(document));
  }

  /**
   * Returns the breaches in the response to any request; none if the path is outside the API, or serves the API's
   * documentation.
   */
  checkAny(request: SentRequest, answer: ReceivedAnswer): readonly Breach[] {
    const found = this.#find(request.method, request.path);
    switch (found.kind) {
      case 'operation':
        return this.check(found.operation, request, answer);
      case 'elsewhere':
        return [];
      case 'nothing':
        return this.#checkRefusal(request, answer);
    }
  }

  /**
   * Returns the breaches in an operation's response. Checks the status, content and headers. A success is a breach, too,
   * if the request violates the document.
   */
  check(operation: Operation, request: SentRequest, answer: ReceivedAnswer): readonly Breach[] {
    const { status, text } = answer;
    const response = operation.responses[String(status)];
    if (response === undefined && beforeOperations.has(status)) return this.#checkErrors(answer);
    return [
      ...(response === undefined
        ? [{ fault: `status ${status} is not declared`, detail: text.slice(0, 300) }]
        : [
            ...this.#checkContent(response.content ?? {}, request, answer),
            ...this.#checkHeaders(response.headers ?? {}, answer),
          ]),
      ...this.#checkAcceptance(operation, request, answer),
    ];
  }

  /**
   * Returns the breaches in the response to a path or method that is not in the document. The response must be an
   * error. `OPTIONS` may also get 204.
   */
  #checkRefusal({ method, path }: SentRequest, answer: ReceivedAnswer): readonly Breach[] {
    if (method === 'OPTIONS' && answer.status === 204) return [];
    if (answer.status < 400)
      return [
        {
          fault: `status ${answer.status} for a call that is not in the document`,
          detail: `${method} ${path}`,
        },
      ];
    return method === 'HEAD' ? [] : this.#checkErrors(answer);
  }

  #checkErrors(answer: ReceivedAnswer): readonly Breach[] {
    const { status, headers, text } = answer;
    const name = String(headers['content-type']).startsWith('application/problem+json')
      ? 'Problem'
      : 'ErrorPayload';
    const json = parseJson(text);
    return [
      ...this.#violations({ $ref: `#/components/schemas/${name}` }, json, `the body of status ${status}`),
      ...wrongCodes(status, json),
    ];
  }

  #checkContent(
    content: Readonly<Record<string, { readonly schema: Schema }>>,
    request: SentRequest,
    answer: ReceivedAnswer,
  ): readonly Breach[] {
    const { status, headers, text } = answer;
    const type =
      String(headers['content-type'] ?? '')
        .split(';')[0]
        ?.trim() ?? '';
    const detail = text.slice(0, 300);
    if (Object.keys(content).length === 0 || request.method === 'HEAD')
      return text === '' ? [] : [{ fault: `status ${status} has a body, which is not declared`, detail }];
    const media = content[type];
    if (media === undefined)
      return [{ fault: `status ${status} has the content type "${type}", which is not declared`, detail }];
    if (type === 'text/event-stream') return [];
    if (!type.endsWith('json'))
      return this.#violations(media.schema, text, `the ${type} of status ${status}`);
    const json = parseJson(text);
    if (json === undefined) return [{ fault: `status ${status} has a body that is no JSON`, detail }];
    const schema = applicableSchema(media.schema, request, (schema) => resolve(this.#document, schema));
    return [
      ...this.#violations(schema, json, `the body of status ${status}`),
      ...(status >= 400 ? wrongCodes(status, json) : []),
    ];
  }

  #checkHeaders(
    declared: Readonly<Record<string, { readonly schema: Schema }>>,
    { headers }: ReceivedAnswer,
  ): readonly Breach[] {
    return Object.entries(declared).flatMap(([name, { schema }]) => {
      const value = headers[name.toLowerCase()];
      if (value === undefined) return [];
      const text = String(value);
      return this.#violations(schema, schema.type === 'integer' ? Number(text) : text, `the header ${name}`);
    });
  }

  /**
   * If the request succeeded, returns the reasons why it should not have: undeclared query parameters, and a body that
   * the document forbids.
   */
  #checkAcceptance(
    operation: Operation,
    request: SentRequest,
    { status }: ReceivedAnswer,
  ): readonly Breach[] {
    if (status >= 300) return [];
    const { body, headers, path } = request;
    const unknown = unknownParameters(operation, path).map((name) => ({
      fault: `status ${status} for a parameter that is not declared`,
      detail: name,
    }));
    const schema = Object.values(operation.bodies)[0]?.schema;
    if (schema === undefined || typeof body !== 'string' || headers['content-encoding'] !== undefined)
      return unknown;
    const json = parseJson(body);
    if (json === undefined) return unknown;
    return [
      ...unknown,
      ...this.#violations(schema, json, `status ${status} for a body that the document forbids`),
    ];
  }

  /** Returns whether a schema of the document allows a value. */
  allows(schema: Schema, value: unknown): boolean {
    return this.#violations(schema, value, '').length === 0;
  }

  #violations(schema: Schema, value: unknown, where: string): readonly Breach[] {
    const validate = this.#validators.get(schema) ?? this.#compile(schema);
    if (validate(value)) return [];
    return (validate.errors ?? []).slice(0, 1).map((error) => ({
      fault: `${where}: ${placeOf(error)} ${error.message ?? 'is invalid'}`,
      detail: JSON.stringify(valueAt(value, error.instancePath))?.slice(0, 300) ?? '',
    }));
  }

  #compile(schema: Schema): ValidateFunction {
    const text = absolute(schema);
    const validate = this.#validatorsByText.get(text) ?? this.#ajv.compile(JSON.parse(text) as Schema);
    this.#validatorsByText.set(text, validate);
    this.#validators.set(schema, validate);
    return validate;
  }
}

/** Prefix of the component schemas' names in Ajv. */
const placeOfSchemas = 'api:/';

/** Returns a schema as JSON. Changes its references to the names under which Ajv knows the component schemas. */
function absolute(schema: Schema): string {
  return JSON.stringify(schema).replaceAll('"$ref":"#/components/schemas/', `"$ref":"${placeOfSchemas}`);
}

/** Returns the path to the invalid value. Replaces array indexes with 0, so that equal faults have equal texts. */
function placeOf({ instancePath }: ErrorObject): string {
  return instancePath === '' ? 'the whole' : instancePath.replaceAll(/\/\d+/g, '/0');
}

function valueAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const step of pointer.split('/').slice(1)) {
    at = (at as Readonly<Record<string, unknown>> | null)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return at;
}

function wrongCodes(status: number, payload: unknown): readonly Breach[] {
  const { errors } = (payload ?? {}) as { errors?: readonly { code?: number }[] };
  const wrong = errors?.find(({ code = 0 }) => Math.trunc(code / 100) !== status);
  return wrong === undefined
    ? []
    : [{ fault: `status ${status} with a code of another status`, detail: String(wrong.code) }];
}

function unknownParameters({ parameters }: Operation, path: string): readonly string[] {
  const declared = parameters.filter(({ in: place }) => place === 'query');
  return [...new URLSearchParams(path.split('?')[1] ?? '').keys()].filter(
    (name) =>
      name !== '' &&
      !declared.some(
        (parameter) =>
          parameter.name === name || (isMap(parameter.schema) && name.startsWith(`${parameter.name}.`)),
      ),
  );
}

function isMap({ type }: Schema): boolean {
  return type === 'object';
}
