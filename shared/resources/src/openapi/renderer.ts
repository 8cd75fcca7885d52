import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliDecompress, gzip } from 'node:zlib';
import { smallestEncoding } from '../pipeline/request/encoding.js';
import type { ApiRequest, ApiResponse } from '../pipeline/request/request.js';

/** The bundle of @scalar/api-reference; `assets/scalar.json` names its version. */
const bundle = readFileSync(new URL('../../assets/scalar.js.br', import.meta.url));

/** The name of the script below `docs`. It changes with the content, so that browsers may keep it. */
export const rendererName = `scalar-${createHash('sha256').update(bundle).digest('hex').slice(0, 12)}.js`;

const plain = once(async () => promisify(brotliDecompress)(bundle));
const zipped = once(async () => promisify(gzip)(await plain()));

/** Serves the script in an encoding that the caller accepts; browsers ask for Brotli on HTTPS and on localhost only. */
export async function rendererResponse({ headers }: ApiRequest): Promise<ApiResponse> {
  const kept = {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  };
  switch (smallestEncoding(headers['accept-encoding'] ?? '')) {
    case 'br':
      return { status: 200, headers: { ...kept, 'content-encoding': 'br' }, body: bundle };
    case 'gzip':
      return { status: 200, headers: { ...kept, 'content-encoding': 'gzip' }, body: await zipped() };
    default:
      return { status: 200, headers: kept, body: await plain() };
  }
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => (made ??= make());
}
