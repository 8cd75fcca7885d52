import { eventText } from '../pipeline/event-stream.js';
import { bounded } from './bounded-schema.js';
import type { OperationObject } from './document-types.js';
import { exampleOf } from './example.js';
import { headerReferences } from './headers.js';
import { operation, type OperationPlace } from './operation.js';
import { lastEventId, selectionParameters } from './parameters.js';
import { schemaName } from './schemas.js';

/** GET on a collection that is a stream of events. */
export function streamOperation(place: OperationPlace): OperationObject {
  const { resource, owner } = place;
  const example = eventText({ id: '1', data: exampleOf(bounded(resource.item)) });
  return operation(place, `stream${owner}${schemaName(resource.name)}`, `Listen to ${resource.name}`, {
    description: `${resource.description} Server-sent events (HTML Standard, § 9.2); \`data\` is JSON.`,
    parameters: [...selectionParameters(resource, false), lastEventId],
    responses: {
      '200': {
        description: 'Events as they come.',
        headers: headerReferences(),
        content: {
          'text/event-stream': {
            schema: { type: 'string', maxLength: Number.MAX_SAFE_INTEGER, pattern: String.raw`^[\s\S]*$` },
            example,
          },
        },
      },
      '204': { description: 'Nothing more will come.', headers: headerReferences() },
    },
    errors: [400],
  });
}
