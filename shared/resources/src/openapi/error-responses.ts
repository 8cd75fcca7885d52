import { listedProblems } from '../errors/api-error.js';
import { errorCatalogue, type ErrorCode, parseErrorCode, statusOf } from '../errors/error-catalogue.js';
import type { JsonSchema } from '../validation/json-schema.js';
import type { Reference, ResponseObject } from './document-types.js';
import { headerReferences, type responseHeaders } from './headers.js';

/** The schema of the error payload. */
export const errorPayloadSchema: JsonSchema = {
  type: 'object',
  description:
    'The problems of the request: all, or the first 100 and, as the last element, how many there are in all.',
  required: ['errors'],
  additionalProperties: false,
  properties: {
    errors: {
      type: 'array',
      minItems: 1,
      maxItems: listedProblems + 1,
      items: {
        type: 'object',
        required: ['userMessage', 'internalMessage', 'code', 'more info'],
        additionalProperties: false,
        properties: {
          userMessage: {
            type: 'string',
            maxLength: 200,
            pattern: '^.+$',
            description: 'Fit for the screen of an end user.',
          },
          internalMessage: {
            type: 'string',
            maxLength: 1_048_576,
            pattern: String.raw`^[\s\S]*$`,
            description: 'For developers.',
          },
          code: {
            enum: Object.keys(errorCatalogue).map(Number),
            description: 'The status × 100 plus an ordinal.',
          },
          'more info': {
            type: 'string',
            format: 'uri',
            maxLength: 2048,
            description: 'A page that explains cause and fix.',
          },
        },
      },
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

/** One response for each status of the catalogue, with the causes of its codes and an example for each. */
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

/** What callers that prefer `application/problem+json` get: the error payload and, before it, what RFC 9457 names. */
export const problemSchema: JsonSchema = {
  type: 'object',
  description: 'The first problem of the request in the form of RFC 9457, and all of them.',
  required: ['type', 'title', 'status', 'detail', 'errors'],
  additionalProperties: false,
  properties: {
    type: {
      type: 'string',
      format: 'uri',
      maxLength: 2048,
      description: 'A page that explains cause and fix.',
    },
    title: {
      type: 'string',
      maxLength: 200,
      pattern: '^.+$',
      description: 'A few words that name the error.',
    },
    status: { type: 'integer', format: 'int32', minimum: 400, maximum: 599, description: 'The HTTP status.' },
    detail: {
      type: 'string',
      maxLength: 1_048_576,
      pattern: String.raw`^[\s\S]*$`,
      description: 'The internal message of the first problem.',
    },
    errors: { ...errorPayloadSchema.properties?.['errors'], description: 'All problems of the request.' },
  },
};

const sentences = (description: string): JsonSchema => ({
  type: 'string',
  maxLength: 2_000,
  pattern: '^.+$',
  description,
});

/** What `/errors/{code}` says of an error, as JSON. */
export const explanationSchema: JsonSchema = {
  type: 'object',
  required: ['code', 'status', 'title', 'userMessage', 'cause', 'fix'],
  additionalProperties: false,
  properties: {
    code: { enum: Object.keys(errorCatalogue).map(Number), description: 'The status × 100 plus an ordinal.' },
    status: { type: 'integer', format: 'int32', minimum: 400, maximum: 599, description: 'The HTTP status.' },
    title: sentences('A few words that name the error.'),
    userMessage: sentences('Fit for the screen of an end user.'),
    cause: sentences('Why a request is answered so.'),
    fix: sentences('What to change.'),
  },
};

export const explanationExample = { code: 40402, status: statusOf(40402), ...errorCatalogue[40402] };
