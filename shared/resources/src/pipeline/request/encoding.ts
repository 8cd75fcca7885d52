import Negotiator from 'negotiator';

/** The content codings that the API can send, from the smallest result to the largest. */
const encodings = ['br', 'gzip', 'identity'] as const;

/**
 * Returns the content coding with the smallest result that the caller accepts. The order of `Accept-Encoding` is
 * ignored: browsers list gzip before Brotli, but do not prefer it.
 */
export function smallestEncoding(acceptEncoding: string): 'br' | 'gzip' | 'identity' {
  if (acceptEncoding === '') return 'identity';
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([
    ...encodings,
  ]);
  return encodings.find((encoding) => accepted.includes(encoding)) ?? 'identity';
}
