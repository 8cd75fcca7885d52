import { ApiError, apiError } from './api-error.js';
import type { ErrorCode } from './error-catalogue.js';

const codes: ReadonlyMap<number, ErrorCode> = new Map([
  [400, 40003],
  [401, 40101],
  [403, 40301],
  [404, 40401],
  [405, 40501],
  [406, 40601],
  [413, 41301],
  [415, 41501],
  [429, 42901],
  [503, 50303],
]);

/** Returns the error of the catalogue for an answer that only has a status. */
export function fromStatus(status: number, message: string): ApiError {
  return apiError(codes.get(status) ?? (status < 500 ? 40003 : 50001), message);
}

/** Converts errors of Koa (`ctx.throw(404)`) to those of the catalogue; returns others unchanged. */
export function fromHttpError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ApiError || !('status' in error)) return error;
  const code = typeof error.status === 'number' ? codes.get(error.status) : undefined;
  return code === undefined ? error : apiError(code, error.message);
}
