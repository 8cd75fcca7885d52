import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Answer } from './client.js';
import type { OpenApiDocument, Operation } from './document.js';
import type { Request } from './request.js';
import type { Schema } from './schema.js';

/** A violation; `what` is the same for violations of the same kind. */
export interface Breach {
  readonly what: string;
  /** Details of this response only. */
  readonly detail: string;
}

/** The guarantees that the OpenAPI document makes. */
export class Contract {
  readonly #ajv = formats.default(new Ajv2020({ strict: false, allErrors: false, validateFormats: true }));
  readonly #validators = new Map<Schema, ValidateFunction>();
  readonly #limitMs: number;

  /** @param limitMs maximum response time */
  constructor(document: OpenApiDocument, limitMs: number) {
    this.#limitMs = limitMs;
    this.#ajv.addSchema({ components: document.components }, 'api');
  }

  /** Returns every guarantee that a response violates. */
  check(operation: Operation, request: Request, answer: Answer): readonly Breach[] {
    const { status, text, tookMs } = answer;
    const response = operation.responses[String(status)];
    return [
      ...(status >= 500
        ? [{ what: `status ${status}: ${causeOf(text)}`, detail: text.slice(0, 1_500) }]
        : []),
      ...(tookMs > this.#limitMs
        ? [{ what: `slower than ${this.#limitMs} ms`, detail: `${Math.round(tookMs)} ms` }]
        : []),
      ...(response === undefined
        ? [{ what: `status ${status} is not declared: ${causeOf(text)}`, detail: text.slice(0, 300) }]
        : [
            ...this.#checkContent(response.content ?? {}, answer),
            ...this.#checkHeaders(response.headers ?? {}, answer),
          ]),
      ...this.#checkAcceptance(operation, request, answer),
    ];
  }

  #checkContent(
    content: Readonly<Record<string, { readonly schema: Schema }>>,
    answer: Answer,
  ): readonly Breach[] {
    const { status, headers, text } = answer;
    const type = headers['content-type']?.split(';')[0]?.trim() ?? '';
    if (Object.keys(content).length === 0) {
      return text === ''
        ? []
        : [{ what: `status ${status} has a body, which is not declared`, detail: text.slice(0, 300) }];
    }
    const media = content[type];
    if (media === undefined) {
      return [
        {
          what: `status ${status} has the content type "${type}", which is not declared`,
          detail: text.slice(0, 300),
        },
      ];
    }
    if (type === 'text/event-stream') return [];
    if (!type.endsWith('json'))
      return this.#violations(media.schema, text, `the ${type} of status ${status}`);
    const json = parseJson(text);
    if (json === undefined)
      return [{ what: `status ${status} has a body that is no JSON`, detail: text.slice(0, 300) }];
    return [
      ...this.#violations(media.schema, json, `the body of status ${status}`),
      ...(status >= 400 ? wrongCodes(status, json) : []),
    ];
  }

  #checkHeaders(
    declared: Readonly<Record<string, { readonly schema: Schema }>>,
    { headers }: Answer,
  ): readonly Breach[] {
    return Object.entries(declared).flatMap(([name, { schema }]) => {
      const value = headers[name.toLowerCase()];
      if (value === undefined) return [];
      const text = String(value);
      return this.#violations(schema, schema.type === 'integer' ? Number(text) : text, `the header ${name}`);
    });
  }

  /** Requests that the document forbids must not succeed. */
  #checkAcceptance({ bodies }: Operation, { body, headers }: Request, { status }: Answer): readonly Breach[] {
    const schema = Object.values(bodies)[0]?.schema;
    if (
      schema === undefined ||
      status >= 300 ||
      typeof body !== 'string' ||
      headers['content-encoding'] !== undefined
    )
      return [];
    const json = parseJson(body);
    if (json === undefined) return [];
    return this.#violations(schema, json, `status ${status} for a body that the document forbids`);
  }

  #violations(schema: Schema, value: unknown, where: string): readonly Breach[] {
    let validate = this.#validators.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile(absolute(schema));
      this.#validators.set(schema, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).slice(0, 1).map((error) => ({
      what: `${where}: ${placeOf(error)} ${error.message ?? 'is invalid'}`,
      detail: JSON.stringify(valueAt(value, error.instancePath))?.slice(0, 300) ?? '',
    }));
  }
}

/** Makes references absolute: they are relative to the document, not to the schema. */
function absolute(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/')) as Schema;
}

/** Returns the path with all indexes replaced, so that similar errors are grouped. */
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
  const { errors } = payload as { errors?: readonly { code?: number }[] };
  const wrong = errors?.find(({ code = 0 }) => Math.trunc(code / 100) !== status);
  return wrong === undefined
    ? []
    : [{ what: `status ${status} with a code of another status`, detail: String(wrong.code) }];
}

/** Returns the first line of a message and its origin, without variable parts. */
function causeOf(text: string): string {
  const message =
    (parseJson(text) as { errors?: readonly { internalMessage?: string }[] } | undefined)?.errors?.[0]
      ?.internalMessage ?? text;
  const [first = '', ...rest] = message.replace(/^Incident \S+\s*/, '').split('\n');
  const frame = rest.find((line) => /\/(?:shared|services)\//.test(line)) ?? '';
  return `${first} ${/([\w-]+\.[jt]s):\d+/.exec(frame)?.[1] ?? ''}`
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, '…')
    .replaceAll(/"[^"]*"/g, '"…"')
    .replaceAll(/-?\d+(?:\.\d+)?/g, 'N')
    .slice(0, 200)
    .trim();
}

/** Parses JSON; returns `undefined` if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
