import Negotiator from 'negotiator';

/** The content codings that the API can send, best compression first. */
const encodings = ['br', 'gzip', 'identity'] as const;

/**
 * Returns the content coding that compresses best among those that the caller accepts. Ignores the order of
 * `Accept-Encoding`, because browsers list gzip before Brotli without preferring it.
 */
export function smallestEncoding(acceptEncoding: string): 'br' | 'gzip' | 'identity' {
  if (acceptEncoding === '') return 'identity';
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([
    ...encodings,
  ]);
  return encodings.find((encoding) => accepted.includes(encoding)) ?? 'identity';
}
