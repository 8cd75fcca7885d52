import type { JsonSchema } from '../validation/json-schema.js';
import { errorPayloadSchema } from './error-responses.js';

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
