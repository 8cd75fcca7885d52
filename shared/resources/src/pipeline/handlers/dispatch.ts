import { type Route, streams } from '../request/route.js';
import type { Action, Call, Handler } from './checked-request.js';
import { createItem, deleteItems, listItems, replaceItems } from './collection.js';
import { deleteItem, patchItem, readItem, replaceItem } from './item.js';
import { operate } from './operation.js';
import { streamEvents } from './stream.js';

type Methods<Kind extends Route['kind']> = Readonly<Record<string, Handler<Kind>>>;

const handlers: { readonly [Kind in Route['kind']]: Methods<Kind> } = {
  collection: { GET: listItems, HEAD: listItems, POST: createItem, PUT: replaceItems, DELETE: deleteItems },
  search: { GET: listItems, HEAD: listItems },
  item: { GET: readItem, HEAD: readItem, PUT: replaceItem, PATCH: patchItem, DELETE: deleteItem },
  operation: { PUT: operate },
};

/** The action of a call: query and body checked, the storage not yet touched. */
export function prepare(call: Call): Action | Promise<Action> {
  if (isStream(call)) return streamEvents(call);
  const methods = handlers[call.route.kind] as Methods<Route['kind']>;
  const handler = methods[call.request.method];
  if (handler === undefined) throw new Error(`no handler for ${call.request.method} on ${call.route.kind}`);
  return handler(call);
}

/** Whether the answer comes when something has happened, and not at once. */
export function staysOpen(call: Call): boolean {
  if (call.request.method !== 'GET') return false;
  return (
    isStream(call) || (call.route.serves('wait') && /(?:^|&)wait=(?!0*(?:&|$))/.test(call.request.query))
  );
}

function isStream(call: Call): call is Call<'collection'> {
  return streams(call.route) && (call.request.method === 'GET' || call.request.method === 'HEAD');
}
