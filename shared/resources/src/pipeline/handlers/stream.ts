import { EventBody } from '../event-body.js';
import { parseSelectionQuery } from '../../query/collection-query.js';
import { eventStream } from '../request/media-type.js';
import type { Action, Call } from './checked-request.js';
import { scopeFilters } from './collection.js';
import { served } from './served.js';

/** `X-Accel-Buffering` is nginx's: it would keep events back to fill its buffers. */
const headers = { 'content-type': eventStream, 'cache-control': 'no-store', 'x-accel-buffering': 'no' };

/** GET on a collection whose storage streams: server-sent events. */
export function streamEvents(call: Call<'collection'>): Action {
  const { resource, storage } = call.route;
  const { filters } = parseSelectionQuery(resource, call.request.query);
  const { 'last-event-id': last = '' } = call.request.headers;
  const query = {
    filters: [...filters, ...scopeFilters(call.context.scope)],
    lastEventId: last === '' ? undefined : last,
  };
  return async (context) => {
    if (call.request.method === 'HEAD') return { status: 200, headers };
    const source = await served(storage.stream?.(query, context, call.request.signal));
    if (source.isOver === true) return { status: 204, headers: {} };
    return { status: 200, headers, body: new EventBody(source) };
  };
}
