import Negotiator from 'negotiator';

/** The content codings that the API can send, the smallest first. */
const encodings = ['br', 'gzip', 'identity'] as const;

/** Returns the smallest content coding that the caller accepts: browsers list gzip before Brotli without preferring it. */
export function smallestEncoding(acceptEncoding: string): 'br' | 'gzip' | 'identity' {
  if (acceptEncoding === '') return 'identity';
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([
    ...encodings,
  ]);
  return encodings.find((encoding) => accepted.includes(encoding)) ?? 'identity';
}
