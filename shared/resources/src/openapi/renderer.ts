import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliDecompress, gzip } from 'node:zlib';
import { smallestEncoding } from '../pipeline/request/encoding.js';
import type { ApiRequest, ApiResponse } from '../pipeline/request/request.js';

/** The script that renders the reference: the browser bundle of @scalar/api-reference. */
export interface Renderer {
  /** The file name below `docs`. The name changes with the content, so browsers can cache the script indefinitely. */
  readonly name: string;
  /**
   * Serves the script as Brotli, gzip or plain text, depending on `Accept-Encoding`. Browsers accept Brotli only over
   * HTTPS and on localhost, so gzip is needed too.
   */
  readonly respond: (request: ApiRequest) => Promise<ApiResponse>;
}

/** Reads the Brotli-compressed bundle. Returns undefined if the file does not exist; `make build` creates it. */
export function readRenderer(file: URL): Renderer | undefined {
  if (!existsSync(file)) return undefined;
  const bundle = readFileSync(file);
  const plain = once(async () => promisify(brotliDecompress)(bundle));
  const zipped = once(async () => promisify(gzip)(await plain()));
  return {
    name: `scalar-${createHash('sha256').update(bundle).digest('hex').slice(0, 12)}.js`,
    respond: async ({ headers }) => {
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
    },
  };
}

/** The renderer in the version that `assets/scalar.json` pins; undefined if it has not been built. */
export const renderer = readRenderer(new URL('../../assets/scalar.js.br', import.meta.url));

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => (made ??= make());
}
