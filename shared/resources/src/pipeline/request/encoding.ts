import Negotiator from 'negotiator';

/** The content codings that the API can send, starting with the one that compresses best. */
const encodings = ['br', 'gzip', 'identity'] as const;

/**
 * Returns the content coding that compresses best among those that the caller accepts. Ignores the order of
 * `Accept-Encoding`: browsers list gzip before Brotli, but do not prefer gzip.
 */
export function smallestEncoding(acceptEncoding: string): 'br' | 'gzip' | 'identity' {
  if (acceptEncoding === '') return 'identity';
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([
    ...encodings,
  ]);
  return encodings.find((encoding) => accepted.includes(encoding)) ?? 'identity';
}
