import { classifySqlError } from '../database/sql-errors.js';
import type { Catalog } from '../definition/catalog.js';
import type { CallContext, Principal } from '../definition/context.js';
import { type Deprecation, deprecationOf } from '../definition/deprecation.js';
import { ApiError, apiError } from '../errors/api-error.js';
import { type ErrorStackPolicy, newIncident } from '../errors/incident.js';
import { parseQueryString, pathSegments } from '../query/query-parser.js';
import {
  type AccessControl,
  type Caller,
  callerOf,
  countByAddress,
  identifyCaller,
  isAdmin,
  requireScope,
  scopedCall,
  type ScopeOf,
} from './access/access-control.js';
import { abortOnRevocation, type Listeners } from './access/listeners.js';
import { applyRowScope, type RowScopes } from './access/row-scope.js';
import { errorPage, errorResponse } from './error-response.js';
import {
  type CheckedRequest,
  type Execute,
  type Handler,
  withAllProblems,
} from './handlers/checked-request.js';
import { createItem, deleteItems, listItems, replaceItems } from './handlers/collection.js';
import { streamEvents } from './handlers/event-stream.js';
import { parentFieldsOf, requireParents, requirePossibleId } from './handlers/item-lookup.js';
import { deleteItem, patchItem, readItem, replaceItem } from './handlers/item.js';
import { operate, operateOnSet } from './handlers/operation.js';
import { type IdempotencyStore, performOnce } from './idempotency.js';
import {
  type ApiRequest,
  type ApiResponse,
  commonHeaders,
  isPreflight,
  parsePrefer,
  readOnly,
  requireAcceptable,
  requireMediaType,
} from './request.js';
import {
  afterVersion,
  allowedMethods,
  findRoute,
  functionOf,
  isStream,
  noSuchPath,
  patternOf,
  requireMethod,
  type Route,
  supportedVersion,
} from './route.js';

/**
 * Returns the function that serves a page about the API itself, such as `openapi.json`; undefined for any other path.
 */
export type Reference = (
  segments: readonly string[],
) => ((request: ApiRequest) => ApiResponse | Promise<ApiResponse>) | undefined;

export interface ApiLog {
  /** Called with each unexpected error, together with the incident id that the caller receives. */
  readonly incident: (incident: {
    id: string;
    requestId: string;
    method: string;
    path: string;
    error: unknown;
  }) => void;
}

export interface PipelineOptions {
  readonly catalog: Catalog;
  /** The public URL below which `/errors/{code}` is served. */
  readonly rootUrl: string;
  /** URL of the API version, e.g. `https://example.com/api/v1`. */
  readonly apiUrl: string;
  readonly prefix: string;
  readonly accessControl: AccessControl;
  readonly listeners: Listeners;
  readonly scopeOf: ScopeOf;
  readonly rowScopes: RowScopes;
  readonly idempotency: IdempotencyStore;
  readonly reference: Reference;
  readonly classifyError: (error: unknown) => ApiError | undefined;
  readonly errorStack: ErrorStackPolicy;
  readonly corsOrigins: readonly string[];
  readonly log: ApiLog;
}

/** Turns requests into responses, independent of any web framework. */
export class Pipeline {
  readonly #options: PipelineOptions;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** Returns the headers to set on every response, including the responses of later middleware. */
  commonHeaders(request: ApiRequest): Record<string, string> {
    return commonHeaders(request, this.#options.corsOrigins);
  }

  /**
   * Returns the response to `/` and to paths under `/api` or `/errors`, with or without the prefix; undefined for any
   * other path. Converts errors to error responses.
   */
  async respond(request: ApiRequest): Promise<ApiResponse | undefined> {
    const path = withoutPrefix(request.path, this.#options.prefix);
    if (path === undefined) return undefined;
    let caller: Caller = { principal: undefined, headers: {} };
    let route: string | undefined;
    const progress: Progress = {
      routed: (pattern) => (route = pattern),
      identified: (identified) => (caller = identified),
    };
    const completed = (response: ApiResponse): ApiResponse => ({
      ...response,
      headers: { ...caller.headers, ...response.headers },
      ...(route !== undefined && { route }),
    });
    try {
      return completed(await answer(this.#options, request, pathSegments(path), progress));
    } catch (error) {
      return completed(this.answerError(request, error, caller.principal));
    }
  }

  /** Returns the response for an error, e.g. in later middleware. Logs unexpected errors. */
  answerError(request: ApiRequest, error: unknown, principal?: Principal): ApiResponse {
    const { classifyError, rootUrl } = this.#options;
    const expected =
      error instanceof ApiError
        ? error
        : (classifyError(error) ?? classifySqlError(error, bodyMethods.has(request.method)));
    const answered = expected ?? this.#unexpected(request, error, principal);
    return errorResponse(answered, rootUrl, request.headers['accept']);
  }

  #unexpected(request: ApiRequest, error: unknown, principal: Principal | undefined): ApiError {
    if (request.signal.aborted && error === request.signal.reason)
      return apiError(50304, 'The caller left before the end of the read');
    const incident = newIncident(error);
    const { method, path } = request;
    this.#options.log.incident({ id: incident.id, requestId: request.id, method, path, error });
    const visible = this.#options.errorStack === 'always' || isAdmin(principal);
    return apiError(50001, `Incident ${incident.id}${visible ? `\n${incident.stack}` : ''}`);
  }
}

/** Learns what a request is about while it is handled, because an error can follow at any time. */
interface Progress {
  /** Called with the pattern of the route. */
  readonly routed: (pattern: string) => void;
  /** Called first with only the rate limit headers, and again once the caller is known. */
  readonly identified: (caller: Caller) => void;
}

/**
 * Removes the prefix from a path, if the path still has it. Returns `/` or an empty string for the root, or a path
 * that starts with `/api` or `/errors`. Returns undefined for any other path.
 */
function withoutPrefix(path: string, prefix: string): string | undefined {
  const hasPrefix = `${path}/`.toLowerCase().startsWith(`${prefix}/`.toLowerCase());
  const candidates = hasPrefix ? [path.slice(prefix.length), path] : [path];
  return candidates.find((candidate) => /^(?:\/?$|\/(?:api|errors)(?:\/|$))/i.test(candidate));
}

/** The methods for which a trailing slash does not matter. For others, an id may be missing after it. */
const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
const bodyMethods = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Handles one request in stages: route, method, credentials, media types, query and body, and finally the work itself.
 * Only this last stage uses the storage.
 *
 * @param segments the decoded path, such as `['api', 'v1', 'orders', '7']` or `['errors', '40402']`
 */
async function answer(
  pipeline: PipelineOptions,
  request: ApiRequest,
  segments: readonly string[],
  progress: Progress,
): Promise<ApiResponse> {
  if (segments[0]?.toLowerCase() === 'errors') {
    const page = errorPage(request, segments);
    progress.routed('/errors/{code}');
    return readOnly(request, page);
  }
  const reference = pipeline.reference(segments);
  if (reference !== undefined) {
    progress.routed(`/api/${supportedVersion}/{reference}`);
    countByAddress(pipeline.accessControl, request, progress.identified);
    return readOnly(request, reference);
  }
  const unscopedRoute = findRoute(pipeline.catalog, afterVersion(segments));
  progress.routed(patternOf(unscopedRoute));
  if (request.path.endsWith('/') && !readingMethods.has(request.method)) throw noSuchPath(segments, true);
  requireMethod(unscopedRoute, request.method);
  if (request.method === 'OPTIONS') return optionsResponse(unscopedRoute, request);

  const principal = await identifyCaller(pipeline.accessControl, request, progress.identified);
  const scope = pipeline.scopeOf(scopedCall(unscopedRoute, request.method));
  requireScope(principal, scope);
  const route = applyRowScope(unscopedRoute, pipeline.rowScopes, principal);
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
  const deprecation = deprecationAt(route, request.method);
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

function deprecationAt(route: Route, method: string): Deprecation | undefined {
  const { resource, parents } = route;
  const name = functionOf(route, method);
  const call = route.kind === 'operation' ? route.operation : name && resource.calls.get(name);
  return deprecationOf(
    call,
    resource,
    parents.map((parent) => parent.resource),
  );
}

/**
 * Adds the header `Deprecation` (RFC 9745), a link to the reference and, if an end date is set, `Sunset` (RFC 8594).
 *
 * @param docsUrl the URL of the API's reference
 */
function announce(response: ApiResponse, { since, sunset }: Deprecation, docsUrl: string): ApiResponse {
  const { link } = response.headers;
  const announcement = `<${docsUrl}>; rel="deprecation"; type="text/html"`;
  return {
    ...response,
    headers: {
      ...response.headers,
      deprecation: `@${Math.floor(since.getTime() / 1000)}`,
      ...(sunset && { sunset: sunset.toUTCString() }),
      link: link === undefined || link === '' ? announcement : `${link}, ${announcement}`,
    },
  };
}

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
function prepare(checked: CheckedRequest): Execute | Promise<Execute> {
  if (isStreamRequest(checked)) return streamEvents(checked);
  const methods = handlers[checked.route.kind] as Methods<Route['kind']>;
  const handler = methods[checked.request.method];
  if (handler === undefined)
    throw new Error(`no handler for ${checked.request.method} on ${checked.route.kind}`);
  return handler(checked);
}

/** Returns whether the response can stay open: it is an event stream, or the request has a `wait` above 0. */
function staysOpen(checked: CheckedRequest): boolean {
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
