import { ApiError, apiError } from './api-error.js';
import type { CodeOf, ErrorCode } from './error-catalogue.js';

type Status = 400 | 401 | 403 | 404 | 405 | 406 | 413 | 415 | 429 | 503;

const codeOf: { readonly [Of in Status]: CodeOf<Of> } = {
  400: 40003,
  401: 40101,
  403: 40301,
  404: 40401,
  405: 40501,
  406: 40601,
  413: 41301,
  415: 41501,
  429: 42901,
  503: 50303,
};
const codes: ReadonlyMap<number, ErrorCode> = new Map(
  Object.entries(codeOf).map(([status, code]) => [Number(status), code]),
);

/**
 * Returns the API error for an HTTP status. For a status without a code of its own, the code is 40003 if the status is
 * below 500, otherwise 50001.
 */
export function fromStatus(status: number, message: string): ApiError {
  return apiError(codes.get(status) ?? (status < 500 ? 40003 : 50001), message);
}

/**
 * Converts an HTTP error from Koa, such as one thrown by `ctx.throw(404)`, to an API error. Returns all other errors
 * unchanged, including errors with a status that has no entry in `codeOf`.
 */
export function fromHttpError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ApiError || !('status' in error)) return error;
  const code = typeof error.status === 'number' ? codes.get(error.status) : undefined;
  return code === undefined ? error : apiError(code, error.message);
}
