import { entityTag, listsTag } from '../entity-tag.js';
import { apiError } from '../errors/api-error.js';
import type { ApiRequest } from '../request/request.js';
import type { ItemRecord, Resource } from '../resource/resource.js';
import { represent } from './representation.js';

/** Throws 42801 if the resource requires `If-Match` and there is none, 41201 if its tag is stale. */
export function checkPrecondition(resource: Resource, request: ApiRequest, current: ItemRecord): void {
  const header = request.headers['if-match'];
  if (header === undefined) {
    if (resource.ifMatch === 'optional') return;
    throw apiError(42801, `Changes of ${resource.name} need If-Match with the item's ETag`);
  }
  const tag = entityTag(represent(resource, current));
  if (!listsTag(header, tag)) throw apiError(41201, `If-Match does not name the present ETag ${tag}`);
}
