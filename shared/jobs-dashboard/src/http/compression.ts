import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';

const gzipped = promisify(gzip);

/** Shorter bodies fit into one packet as they are. */
const MIN_BYTES = 1_400;

/**
 * Compresses a page for clients that take it. The form tokens in it are new each time, so its length tells nothing of them.
 *
 * @param zipped the text of the body, compressed, if somebody has it
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
