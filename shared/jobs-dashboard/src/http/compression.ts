import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';

const gzipped = promisify(gzip);

/** Shorter bodies fit into one packet as they are. */
const MIN_BYTES = 1_400;

/** Compresses a page for clients that take it. The form tokens in it are new each time, so its length tells nothing of them. */
export async function compress(ctx: Context): Promise<void> {
  const { body } = ctx;
  if (typeof body !== 'string' || body.length < MIN_BYTES) return;
  ctx.vary('Accept-Encoding');
  if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') return;
  const { type } = ctx;
  ctx.body = await gzipped(body, { level: 5 });
  ctx.type = type;
  ctx.set('Content-Encoding', 'gzip');
}
