import { parseQueryString } from '../../query/query-string.js';
import { isStream, type Route } from '../request/route.js';
import type { CheckedRequest, Execute, Handler } from './checked-request.js';
import { createItem, deleteItems, listItems, replaceItems } from './collection.js';
import { deleteItem, patchItem, readItem, replaceItem } from './item.js';
import { operate } from './operation.js';
import { operateOnSet } from './set-operation.js';
import { streamEvents } from './stream.js';

type Methods<Kind extends Route['kind']> = Readonly<Record<string, Handler<Kind>>>;

const handlers: { readonly [Kind in Route['kind']]: Methods<Kind> } = {
  collection: { GET: listItems, HEAD: listItems, POST: createItem, PUT: replaceItems, DELETE: deleteItems },
  search: { GET: listItems, HEAD: listItems },
  item: { GET: readItem, HEAD: readItem, PUT: replaceItem, PATCH: patchItem, DELETE: deleteItem },
  operation: { PUT: operate },
  'set-operation': { PUT: operateOnSet },
};

/**
 * Checks the query and the body with the handler for the route and method. Returns the function that performs the
 * request.
 */
export function prepare(checked: CheckedRequest): Execute | Promise<Execute> {
  if (isStreamRequest(checked)) return streamEvents(checked);
  const methods = handlers[checked.route.kind] as Methods<Route['kind']>;
  const handler = methods[checked.request.method];
  if (handler === undefined)
    throw new Error(`no handler for ${checked.request.method} on ${checked.route.kind}`);
  return handler(checked);
}

/** Returns whether the response can stay open: it is an event stream, or the request has a `wait` above 0. */
export function staysOpen(checked: CheckedRequest): boolean {
  if (checked.request.method !== 'GET') return false;
  return (
    isStreamRequest(checked) ||
    (checked.route.serves('wait') &&
      parseQueryString(checked.request.query).some(([name, value]) => name === 'wait' && Number(value) > 0))
  );
}

function isStreamRequest(checked: CheckedRequest): checked is CheckedRequest<'collection'> {
  return isStream(checked.route) && (checked.request.method === 'GET' || checked.request.method === 'HEAD');
}
