import Negotiator from 'negotiator';
import { apiError } from '../../errors/api-error.js';
import type { ApiRequest } from './request.js';

const json = 'application/json';
const mergePatch = 'application/merge-patch+json';

export const eventStream = 'text/event-stream';

/** The media types that PATCH accepts, as the value of the `Accept-Patch` header. */
export const patchTypes = `${mergePatch}, ${json}`;

/**
 * Checks that `Accept` allows JSON or problem+json or, for a stream, `text/event-stream`. Items are sent as JSON even
 * if the caller accepts only problem+json.
 *
 * @throws {ApiError} 40601
 */
export function requireAcceptable(request: ApiRequest, isStream: boolean): void {
  const { accept } = request.headers;
  if (accept === undefined || accept.trim() === '') return;
  const available = isStream ? [eventStream] : [json, 'application/problem+json'];
  if (new Negotiator({ headers: { accept } }).mediaType(available) === undefined) {
    throw apiError(40601, `Only ${available[0]} is available, not ${accept.slice(0, 200)}`);
  }
}

/**
 * Checks that the `Content-Type` is JSON in UTF-8 or, for PATCH, a JSON merge patch. A request without a body needs no
 * `Content-Type`.
 * @throws {ApiError} 41501
 */
export function requireMediaType(request: ApiRequest): void {
  const type = request.headers['content-type'];
  if (type === undefined && !hasBody(request)) return;
  const [essence = '', ...parameters] = (type ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  const allowed = request.method === 'PATCH' ? [json, mergePatch] : [json];
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  if (!allowed.includes(essence) || !isUtf8) {
    const actual = type === undefined ? 'but has no Content-Type' : `not ${type.slice(0, 200)}`;
    throw apiError(
      41501,
      `The body must be ${allowed.join(' or ')} in UTF-8, ${actual}`,
      request.method === 'PATCH' ? { 'accept-patch': patchTypes } : { accept: json },
    );
  }
}

function hasBody(request: ApiRequest): boolean {
  return (
    (request.headers['content-length'] ?? '0') !== '0' || request.headers['transfer-encoding'] !== undefined
  );
}
