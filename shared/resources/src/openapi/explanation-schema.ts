import { errorCatalogue, statusOf } from '../errors/error-catalogue.js';
import type { JsonSchema } from '../validation/json-schema.js';

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
