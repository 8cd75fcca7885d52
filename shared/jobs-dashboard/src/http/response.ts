import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = new Map([
  ['Content-Security-Policy', contentSecurityPolicy],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'same-origin'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Cache-Control', 'no-store'],
]);

/**
 * Sets the security headers of every response, including errors, and forbids caching. For hashed assets, a later
 * `Cache-Control` header allows caching again.
 */
export function setSecurityHeaders(ctx: Context): void {
  ctx.res.setHeaders(headers);
}

const gzipped = promisify(gzip);

/** Minimum length of a body to compress. Shorter bodies usually fit into one packet anyway. */
const MIN_BYTES = 1_400;

/**
 * Compresses the body for clients that accept gzip. Form tokens differ in each response, so the compressed length
 * reveals nothing about them (BREACH).
 *
 * @param zipped returns the compressed text, possibly from a cache; by default, compresses it each time
 */
export async function compress(ctx: Context, zipped: (text: string) => Promise<Buffer> = zip): Promise<void> {
  const { body } = ctx;
  if (typeof body !== 'string' || body.length < MIN_BYTES) return;
  ctx.vary('Accept-Encoding');
  if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') return;
  const { type } = ctx;
  ctx.body = await zipped(body);
  ctx.type = type;
  ctx.set('Content-Encoding', 'gzip');
}

export function zip(text: string): Promise<Buffer> {
  return gzipped(text, { level: 5 });
}
