import { resultOf } from '../../definition/storage.js';
import { parseFilterQuery } from '../../query/query-parser.js';
import { EventStream } from '../event-stream.js';
import { eventStream } from '../request/media-type.js';
import type { CheckedRequest, Execute } from './checked-request.js';
import { parentFilters } from './collection.js';

/** The headers of an event stream. `X-Accel-Buffering` stops nginx from buffering events. */
const headers = { 'content-type': eventStream, 'cache-control': 'no-store', 'x-accel-buffering': 'no' };

/** Serves GET on a collection whose storage has `stream`, as server-sent events. */
export function streamEvents(checked: CheckedRequest<'collection'>): Execute {
  const { resource, storage } = checked.route;
  const filters = parseFilterQuery(resource, checked.request.query);
  const { 'last-event-id': last = '' } = checked.request.headers;
  const query = {
    filters: [...filters, ...parentFilters(checked.context.parentFields)],
    lastEventId: last === '' ? undefined : last,
  };
  return async (context) => {
    if (checked.request.method === 'HEAD') return { status: 200, headers };
    const source = await resultOf(storage.stream?.(query, context, checked.request.signal));
    if (source.isOver === true) return { status: 204, headers: {} };
    return { status: 200, headers, body: new EventStream(source) };
  };
}
