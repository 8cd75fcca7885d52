import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';

const gzipped = promisify(gzip);

/** Minimum size of a body to compress. Smaller ones fit into one packet anyway. */
const MIN_BYTES = 1_400;

/**
 * Compresses a page for clients that accept gzip. The form tokens differ in each response, so the compressed length
 * reveals nothing about them (BREACH).
 *
 * @param zipped compresses the body, or returns a cached copy
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
