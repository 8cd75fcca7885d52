import type { CallContext } from '../definition/call-context.js';
import type { Catalog } from '../definition/catalog.js';
import { callerOf } from './access/caller.js';
import { type AccessControl, type Caller, countByAddress, identifyCaller } from './access/access-control.js';
import type { Listeners } from './access/listeners.js';
import { abortOnRevocation } from './access/revocation.js';
import { applyRowScope, type RowScopes } from './access/row-scope.js';
import { requireScope, scopedCall, type ScopeOf } from './access/scope.js';
import { announce, deprecationOf } from './deprecation-headers.js';
import type { CheckedRequest } from './handlers/checked-request.js';
import { withAllProblems } from './handlers/all-problems.js';
import { prepare, staysOpen } from './handlers/dispatch.js';
import { parentFieldsOf, requireParents, requirePossibleId } from './handlers/item-lookup.js';
import { performOnce } from './idempotency/perform-once.js';
import type { IdempotencyStore } from './idempotency/store.js';
import { requireAcceptable, requireMediaType } from './request/media-type.js';
import { allowedMethods, requireMethod } from './request/method.js';
import { parsePrefer } from './request/prefer.js';
import type { ApiRequest, ApiResponse } from './request/request.js';
import { isPreflight } from './request/response-headers.js';
import { afterVersion, findRoute, isStream, noSuchPath, type Route } from './request/route.js';

/**
 * Returns the function that serves a page about the API itself, such as `openapi.json`; undefined for any other path.
 */
export type Reference = (
  segments: readonly string[],
) => ((request: ApiRequest) => ApiResponse | Promise<ApiResponse>) | undefined;

export interface Pipeline {
  readonly catalog: Catalog;
  /** URL of the API version, e.g. `https://example.com/api/v1`. */
  readonly apiUrl: string;
  readonly accessControl: AccessControl;
  readonly listeners: Listeners;
  readonly scopeOf: ScopeOf;
  readonly rowScopes: RowScopes;
  readonly idempotency: IdempotencyStore;
  readonly reference: Reference;
}

/** The methods for which a trailing slash does not matter. For others, an id may be missing after it. */
const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
const bodyMethods = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Handles one request in stages: route, method, credentials, media types, query and body, and finally the work itself.
 * Only this last stage uses the storage.
 *
 * @param segments the decoded path with `api` and the version, such as `['api', 'v1', 'orders', '7']`
 * @param onCaller called first with only the rate limit headers, and again once the caller is known. An error can
 *   follow either call
 */
export async function answer(
  pipeline: Pipeline,
  request: ApiRequest,
  segments: readonly string[],
  onCaller: (caller: Caller) => void,
): Promise<ApiResponse> {
  const reference = pipeline.reference(segments);
  if (reference !== undefined) {
    countByAddress(pipeline.accessControl, request, onCaller);
    return reference(request);
  }
  const found = findRoute(pipeline.catalog, afterVersion(segments));
  if (request.path.endsWith('/') && !readingMethods.has(request.method)) throw noSuchPath(segments, true);
  requireMethod(found, request.method);
  if (request.method === 'OPTIONS') return optionsResponse(found, request);

  const principal = await identifyCaller(pipeline.accessControl, request, onCaller);
  const scope = pipeline.scopeOf(scopedCall(found, request.method));
  requireScope(principal, scope);
  const route = applyRowScope(found, pipeline.rowScopes, principal);
  requireAcceptable(request, isStream(route));
  const takesBody = bodyMethods.has(request.method);
  if (takesBody) requireMediaType(request);
  const body = takesBody ? await request.readBody() : undefined;
  for (const { resource, id } of route.parents) requirePossibleId(resource, id);

  const context: CallContext = {
    requestId: request.id,
    principal,
    caller: callerOf(request, principal),
    address: request.address,
    rowScope: principal?.rowScope ?? null,
    parents: route.parents.map(({ resource, id }) => ({ resource: resource.name, id })),
    parentFields: parentFieldsOf(route.parents),
  };
  const { authenticate, recheckMs } = pipeline.accessControl;
  const grant = isStream(route) && authenticate && { authenticate, principal, scope, recheckMs };
  const checked: CheckedRequest = {
    request: grant ? { ...request, signal: abortOnRevocation(request, grant) } : request,
    route,
    body,
    preferences: parsePrefer(request.headers['prefer']),
    context,
    apiUrl: pipeline.apiUrl,
  };
  const execute = await prepare(checked);
  if (staysOpen(checked)) pipeline.listeners.enter(request, principal);
  const executeOnce = performOnce(pipeline.idempotency, checked, async (within) => {
    await requireParents(route.parents, within);
    return execute(within);
  });
  const response = await withAllProblems(checked, () => executeOnce(context));
  const deprecation = deprecationOf(route, request.method);
  return deprecation === undefined ? response : announce(response, deprecation, `${pipeline.apiUrl}/docs`);
}

function optionsResponse(route: Route, request: ApiRequest): ApiResponse {
  const served = allowedMethods(route);
  const possible = request.path.endsWith('/')
    ? served.filter((method) => readingMethods.has(method))
    : served;
  const allow = possible.join(', ');
  const methods = isPreflight(request) ? { 'access-control-allow-methods': allow } : {};
  return { status: 204, headers: { allow, ...methods } };
}
