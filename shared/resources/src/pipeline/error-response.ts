import { shorten } from '@longshore/edge';
import { type ApiError, apiError, type Problem } from '../errors/api-error.js';
import {
  type CatalogueEntry,
  errorCatalogue,
  type ErrorCode,
  parseErrorCode,
  statusOf,
} from '../errors/error-catalogue.js';
import { type ApiRequest, type ApiResponse, json, preferredType, problemJson } from './request.js';

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

/**
 * Returns the function that serves the page of an error code, `/errors/{code}`, to which the member `more info` of error
 * payloads links.
 *
 * @throws {ApiError} 40401 if there is no such code
 */
export function errorPage(
  { path }: ApiRequest,
  [, text = '', ...excess]: readonly string[],
): (request: ApiRequest) => ApiResponse {
  const code = excess.length === 0 ? parseErrorCode(text) : undefined;
  if (code === undefined) throw apiError(40401, `There is no path ${shorten(path, 200)}`);
  return ({ headers }) => explanation(code, headers['accept']);
}

/** Explains an error code, as JSON if the caller prefers it, otherwise as HTML. */
function explanation(code: ErrorCode, accept: string | undefined): ApiResponse {
  const entry = errorCatalogue[code];
  const forms = ['text/html', 'application/json'];
  const form = preferredType(accept, forms);
  const headers = { vary: 'Accept', 'cache-control': 'public, max-age=3600' };
  if (form === 'application/json') {
    return { status: 200, headers, body: { code, status: statusOf(code), ...entry } };
  }
  return {
    status: 200,
    headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
    body: html(code, entry),
  };
}

function html(code: ErrorCode, entry: CatalogueEntry): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${code} ${prose(entry.title)}</title>
</head>
<body>
<main>
<h1>${code} ${prose(entry.title)}</h1>
<p>HTTP status ${statusOf(code)}. “${prose(entry.userMessage)}”</p>
<h2>Cause</h2>
<p>${prose(entry.cause)}</p>
<h2>Fix</h2>
<p>${prose(entry.fix)}</p>
</main>
</body>
</html>
`;
}

/** Escapes HTML, and marks up `text in backquotes` as code. */
function prose(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/`([^`]*)`/g, '<code>$1</code>');
}
