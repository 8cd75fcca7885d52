import type { ApiError, Problem } from '../errors/api-error.js';
import { errorCatalogue } from '../errors/error-catalogue.js';
import { json, preferredType, problemJson } from './request/media-type.js';
import type { ApiResponse } from './request/request.js';

/** The body of an error response. Responses of type `application/problem+json` add further members to it. */
export interface ErrorPayload {
  readonly errors: readonly {
    readonly userMessage: string;
    readonly internalMessage: string;
    readonly code: number;
    readonly 'more info': string;
  }[];
}

/**
 * Returns the response for an error. The body is the error payload or, if the caller prefers it,
 * `application/problem+json` (RFC 9457).
 *
 * @param rootUrl the base URL of `/errors/{code}`, without a trailing slash
 * @param accept the request's `Accept` header
 */
export function errorResponse(error: ApiError, rootUrl: string, accept: string | undefined): ApiResponse {
  const payload = errorPayload(error, rootUrl);
  if (!prefersProblemJson(accept))
    return { status: error.status, headers: { ...error.headers }, body: payload };
  const [first] = error.problems;
  return {
    status: error.status,
    headers: { ...error.headers, 'content-type': `${problemJson}; charset=utf-8` },
    body: {
      type: `${rootUrl}/errors/${first.code}`,
      title: errorCatalogue[first.code].title,
      status: error.status,
      detail: first.internalMessage,
      ...payload,
    },
  };
}

export function errorPayload(error: ApiError, rootUrl: string): ErrorPayload {
  const unlisted = error.count - error.problems.length;
  const more: Problem = {
    code: error.problems[0].code,
    internalMessage: `${unlisted} more problems are not listed; there are ${error.count} in total`,
  };
  return {
    errors: [...error.problems, ...(unlisted > 0 ? [more] : [])].map(({ code, internalMessage }) => ({
      userMessage: errorCatalogue[code].userMessage,
      internalMessage,
      code,
      'more info': `${rootUrl}/errors/${code}`,
    })),
  };
}

function prefersProblemJson(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes('problem+json')) return false;
  return preferredType(accept, [json, problemJson]) === problemJson;
}
