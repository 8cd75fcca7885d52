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
