import { shorten } from '@longshore/edge';
import { classifySqlError } from '../database/sql-errors.js';
import type { Principal } from '../definition/context.js';
import { ApiError, apiError } from '../errors/api-error.js';
import { type ErrorStackPolicy, newIncident } from '../errors/incident.js';
import { pathSegments, requireNoParameters } from '../query/query-parser.js';
import { type Caller, isAdmin } from './access/access-control.js';
import { errorPage, errorResponse } from './error-response.js';
import { answer, type Pipeline } from './pipeline.js';
import { type ApiRequest, type ApiResponse, commonHeaders } from './request/request.js';

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

export interface ResponderOptions {
  readonly pipeline: Pipeline;
  /** The public URL below which `/errors/{code}` is served. */
  readonly rootUrl: string;
  readonly prefix: string;
  readonly classifyError: (error: unknown) => ApiError | undefined;
  readonly errorStack: ErrorStackPolicy;
  readonly corsOrigins: readonly string[];
  readonly log: ApiLog;
}

/** Turns requests into responses, independent of any web framework. */
export interface Responder {
  /** Returns the headers to set on every response, including the responses of later middleware. */
  readonly commonHeaders: (request: ApiRequest) => Record<string, string>;
  /**
   * Returns the response to `/` and to paths under `/api` or `/errors`, with or without the prefix; undefined for any
   * other path. Converts errors to error responses.
   */
  readonly respond: (request: ApiRequest) => Promise<ApiResponse | undefined>;
  /** Returns the response for an error outside `respond`, e.g. in later middleware. Logs unexpected errors. */
  readonly answerError: (request: ApiRequest, error: unknown) => ApiResponse;
}

export function createResponder(options: ResponderOptions): Responder {
  const { pipeline, rootUrl, prefix } = options;

  const answerError = (request: ApiRequest, error: unknown, principal?: Principal): ApiResponse => {
    const expected =
      error instanceof ApiError
        ? error
        : (options.classifyError(error) ?? classifySqlError(error, hasBody(request)));
    return errorResponse(
      expected ?? unexpected(request, error, principal),
      rootUrl,
      request.headers['accept'],
    );
  };

  const unexpected = (request: ApiRequest, error: unknown, principal: Principal | undefined): ApiError => {
    if (request.signal.aborted && error === request.signal.reason)
      return apiError(50304, 'The caller left before the end of the read');
    const incident = newIncident(error);
    const { method, path } = request;
    options.log.incident({ id: incident.id, requestId: request.id, method, path, error });
    const visible = options.errorStack === 'always' || isAdmin(principal);
    return apiError(50001, `Incident ${incident.id}${visible ? `\n${incident.stack}` : ''}`);
  };

  const respond = async (request: ApiRequest): Promise<ApiResponse | undefined> => {
    const below = withoutPrefix(request.path, prefix);
    if (below === undefined) return undefined;
    let caller: Caller = { principal: undefined, headers: {} };
    try {
      const segments = pathSegments(below);
      if (segments[0]?.toLowerCase() === 'errors') return errorPageOrThrow(request, segments);
      const response = await answer(pipeline, request, segments, (identified) => (caller = identified));
      return withHeaders(response, caller.headers);
    } catch (error) {
      return withHeaders(answerError(request, error, caller.principal), caller.headers);
    }
  };

  return { respond, answerError, commonHeaders: (request) => commonHeaders(request, options.corsOrigins) };
}

function withHeaders(response: ApiResponse, headers: ApiResponse['headers']): ApiResponse {
  return { ...response, headers: { ...headers, ...response.headers } };
}

function hasBody(request: ApiRequest): boolean {
  return request.method === 'POST' || request.method === 'PUT' || request.method === 'PATCH';
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

function errorPageOrThrow(request: ApiRequest, segments: readonly string[]): ApiResponse {
  requireNoParameters(request.query);
  const page = segments.length === 2 ? errorPage(segments[1] ?? '', request.headers['accept']) : undefined;
  if (page === undefined) throw apiError(40401, `There is no path ${shorten(request.path, 200)}`);
  if (request.method === 'GET' || request.method === 'HEAD') return page;
  const allow = 'GET, HEAD, OPTIONS';
  if (request.method === 'OPTIONS') return { status: 204, headers: { allow } };
  throw apiError(40501, `${request.method} is not possible here; possible: ${allow}`, { allow });
}
