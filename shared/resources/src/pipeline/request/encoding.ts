import Negotiator from 'negotiator';

/** The content codings that the API can send. The one that compresses best comes first. */
const encodings = ['br', 'gzip', 'identity'] as const;

/**
 * Returns the content coding that compresses best, of those that the caller accepts. Ignores the order of
 * `Accept-Encoding`: browsers list gzip before Brotli, but do not prefer it.
 */
export function smallestEncoding(acceptEncoding: string): 'br' | 'gzip' | 'identity' {
  if (acceptEncoding === '') return 'identity';
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([
    ...encodings,
  ]);
  return encodings.find((encoding) => accepted.includes(encoding)) ?? 'identity';
}
