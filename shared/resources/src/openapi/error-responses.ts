import { maxListedProblems } from '../errors/api-error.js';
import { errorCatalogue, type ErrorCode, parseErrorCode, statusOf } from '../errors/error-catalogue.js';
import type { JsonSchema } from '../validation/json-schema.js';
import type { Reference, ResponseObject } from './document-types.js';
import { headerReferences, type responseHeaders } from './headers.js';

const errorCodeSchema: JsonSchema = {
  type: 'integer',
  format: 'int32',
  minimum: 40_000,
  maximum: 59_999,
  enum: Object.keys(errorCatalogue).map(Number),
};

/** Regular expression for the URLs in responses. */
export const urlPattern = String.raw`^https?://\S+$`;

/** The body of an error response, unless the caller prefers `application/problem+json`. */
export const errorPayloadSchema: JsonSchema = {
  type: 'object',
  description:
    'All problems of the request, or the first 100 followed by an element that gives their total number.',
  required: ['errors'],
  additionalProperties: false,
  properties: {
    errors: {
      type: 'array',
      description: 'The problems, in the order in which they were found.',
      minItems: 1,
      maxItems: maxListedProblems + 1,
      items: { $ref: '#/components/schemas/ErrorDetail' },
    },
  },
};

/** One element of `errors` in {@link errorPayloadSchema}. */
export const errorDetailSchema: JsonSchema = {
  type: 'object',
  description: 'One problem of the request.',
  required: ['userMessage', 'internalMessage', 'code', 'more info'],
  additionalProperties: false,
  properties: {
    userMessage: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      pattern: '^.+$',
      description: 'Suitable for end users.',
    },
    internalMessage: {
      type: 'string',
      minLength: 0,
      pattern: String.raw`^[\s\S]*$`,
      description: 'For developers.',
    },
    code: {
      ...errorCodeSchema,
      description: 'The HTTP status × 100 plus an ordinal.',
    },
    'more info': {
      type: 'string',
      format: 'uri',
      minLength: 1,
      pattern: urlPattern,
      maxLength: 2048,
      description: 'A page with cause and fix.',
    },
  },
};

const extraHeaders: Readonly<Record<number, readonly (keyof typeof responseHeaders)[]>> = {
  401: ['WWWAuthenticate'],
  403: ['WWWAuthenticate'],
  405: ['Allow'],
  415: ['AcceptPatch'],
  429: ['RetryAfter'],
  503: ['RetryAfter'],
};

/** Returns one response per HTTP status in the catalogue, named like `Error404`. */
export function errorResponses(rootUrl: string): Readonly<Record<string, ResponseObject>> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const text of Object.keys(errorCatalogue)) {
    const code = parseErrorCode(text);
    if (code !== undefined) byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [`Error${status}`, errorResponse(rootUrl, status, codes)]),
  );
}

export function errorReference(status: number): Reference {
  return { $ref: `#/components/responses/Error${status}` };
}

function errorResponse(rootUrl: string, status: number, codes: readonly ErrorCode[]): ResponseObject {
  const errors = codes.slice(0, 1).map((code) => ({
    userMessage: errorCatalogue[code].userMessage,
    internalMessage: errorCatalogue[code].cause,
    code,
    'more info': `${rootUrl}/errors/${code}`,
  }));
  const problems = codes.slice(0, 1).map((code) => ({
    type: `${rootUrl}/errors/${code}`,
    title: errorCatalogue[code].title,
    status,
    detail: errorCatalogue[code].cause,
    errors,
  }));
  return {
    description: codes.map((code) => `${code} ${errorCatalogue[code].title}.`).join(' '),
    headers: headerReferences(...(extraHeaders[status] ?? [])),
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/ErrorPayload' }, example: { errors } },
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        example: problems[0],
      },
    },
  };
}

/** The body of an error response as `application/problem+json`: the members of RFC 9457 and `errors`. */
export const problemSchema: JsonSchema = {
  type: 'object',
  description: 'The first problem of the request as in RFC 9457, and all problems.',
  required: ['type', 'title', 'status', 'detail', 'errors'],
  additionalProperties: false,
  properties: {
    type: {
      type: 'string',
      format: 'uri',
      minLength: 1,
      pattern: urlPattern,
      maxLength: 2048,
      description: 'A page with cause and fix.',
    },
    title: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      pattern: '^.+$',
      description: 'A short name for the error.',
    },
    status: { type: 'integer', format: 'int32', minimum: 400, maximum: 599, description: 'The HTTP status.' },
    detail: {
      type: 'string',
      minLength: 0,
      pattern: String.raw`^[\s\S]*$`,
      description: 'The internal message of the first problem.',
    },
    errors: { ...errorPayloadSchema.properties?.['errors'], description: 'All problems of the request.' },
  },
};

const sentences = (description: string): JsonSchema => ({
  type: 'string',
  minLength: 1,
  maxLength: 2_000,
  pattern: '^.+$',
  description,
});

/** The JSON body of `/errors/{code}`. */
export const errorPageSchema: JsonSchema = {
  type: 'object',
  description: 'The explanation of an error code.',
  required: ['code', 'status', 'title', 'userMessage', 'cause', 'fix'],
  additionalProperties: false,
  properties: {
    code: {
      ...errorCodeSchema,
      description: 'The HTTP status × 100 plus an ordinal.',
    },
    status: { type: 'integer', format: 'int32', minimum: 400, maximum: 599, description: 'The HTTP status.' },
    title: sentences('A short name for the error.'),
    userMessage: sentences('Suitable for end users.'),
    cause: sentences('What causes the error.'),
    fix: sentences('How to fix it.'),
  },
};

export const errorPageExample = { code: 40402, status: statusOf(40402), ...errorCatalogue[40402] };
