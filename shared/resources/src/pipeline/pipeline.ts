import type { Call } from './handlers/checked-request.js';
import { prepare, staysOpen } from './handlers/dispatch.js';
import { requireParents, scopeOf } from './handlers/item-lookup.js';
import { performOnce } from './idempotency/perform-once.js';
import type { IdempotencyStore } from './idempotency/store.js';
import type { Reference } from '../openapi/reference.js';
import { type Admission, admit, type Caller, countByAddress } from './access/access-control.js';
import { confine, type Confinement } from './access/confinement.js';
import type { Listeners } from './access/listeners.js';
import { requireAcceptable, requireMediaType } from './request/media-type.js';
import { allowedMethods, requireMethod } from './request/method.js';
import { afterVersion } from './request/path.js';
import { parsePrefer } from './request/prefer.js';
import type { ApiRequest, ApiResponse } from './request/request.js';
import { isPreflight } from './request/response-headers.js';
import { type Catalog, findRoute, type Route, streams } from './request/route.js';
import { requireScope, scopedCall, type ScopeOf } from './access/scope.js';
import { whileAllowed } from './access/revocation.js';
import type { CallContext } from '../definition/storage.js';

/** What the pipeline serves. */
export interface Pipeline {
  readonly catalog: Catalog;
  /** URL of the API version, e.g. `https://example.com/api/v1`. */
  readonly apiUrl: string;
  readonly admission: Admission;
  readonly listeners: Listeners;
  readonly scopeOf: ScopeOf;
  readonly confinement: Confinement;
  readonly idempotency: IdempotencyStore;
  readonly reference: Reference;
}

const bodyMethods = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Answers one call. The stages run in the order in which the interface promises its checks; only the last one
 * touches the storage.
 * @param segments the decoded path from the version's parent on: `['api', 'v1', 'orders', '7']`
 * @param known is told the caller as soon as it is known, so that errors can be answered accordingly
 */
export async function answer(
  pipeline: Pipeline,
  request: ApiRequest,
  segments: readonly string[],
  known: (caller: Caller) => void,
): Promise<ApiResponse> {
  const named = afterVersion(segments);
  const reference = pipeline.reference(named, request);
  if (reference !== undefined) {
    countByAddress(pipeline.admission, request, known);
    return reference;
  }
  const found = findRoute(pipeline.catalog, named);
  requireMethod(found, request.method);
  if (request.method === 'OPTIONS') return optionsResponse(found, request);

  const principal = await admit(pipeline.admission, request, known);
  const scope = pipeline.scopeOf(scopedCall(found, request.method));
  requireScope(principal, scope);
  const route = confine(found, pipeline.confinement, principal);
  requireAcceptable(request, streams(route));
  const takesBody = bodyMethods.has(request.method);
  if (takesBody) requireMediaType(request);
  const body = takesBody ? await request.readBody() : undefined;

  const context: CallContext = {
    requestId: request.id,
    principal,
    parents: route.parents.map(({ resource, id }) => ({ resource: resource.name, id })),
    scope: scopeOf(route.parents),
  };
  const preferences = parsePrefer(request.headers['prefer']);
  const { authenticate, recheckMs } = pipeline.admission;
  const isListener = streams(route) && authenticate !== undefined;
  const standing = isListener ? { authenticate, principal, scope, everyMs: recheckMs } : undefined;
  const call: Call = {
    request: standing === undefined ? request : { ...request, signal: whileAllowed(request, standing) },
    route,
    body,
    preferences,
    context,
    apiUrl: pipeline.apiUrl,
  };
  const act = await prepare(call);
  if (staysOpen(call)) pipeline.listeners.enter(request, principal);
  const perform = performOnce(pipeline.idempotency, call, async (within) => {
    await requireParents(route.parents, within);
    return act(within);
  });
  return perform(context);
}

function optionsResponse(route: Route, request: ApiRequest): ApiResponse {
  const allow = allowedMethods(route).join(', ');
  const methods = isPreflight(request) ? { 'access-control-allow-methods': allow } : {};
  return { status: 204, headers: { allow, ...methods } };
}
