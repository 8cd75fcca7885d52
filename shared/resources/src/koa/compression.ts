import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { smallestEncoding } from '../pipeline/request/encoding.js';

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** Minimum size of a body to compress, in bytes. Compressing a smaller body would save less than one packet. */
const minBytes = 1024;

export interface Encoded {
  /**
   * The original string if the body was not compressed, because Node can send a string and the headers in one write.
   */
  readonly body: string | Buffer;
  /** undefined if the body was not compressed. */
  readonly encoding: 'br' | 'gzip' | undefined;
}

/** Compresses a body if it is large enough and the caller accepts a compressed body. */
export async function compress(text: string, acceptEncoding: string): Promise<Encoded> {
  if (Buffer.byteLength(text) < minBytes) return { body: text, encoding: undefined };
  switch (smallestEncoding(acceptEncoding)) {
    case 'br':
      // Quality 4 is as fast as gzip but compresses better. The default of 11 is meant for static files.
      return {
        body: await brotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
        encoding: 'br',
      };
    case 'gzip':
      return { body: await zip(text), encoding: 'gzip' };
    default:
      return { body: text, encoding: undefined };
  }
}

/** Returns the strong ETag of a compressed body. It must differ from the ETag of the uncompressed body. */
export function tagOfEncoded(etag: string, encoding: string): string {
  return etag.replace(/"$/, `-${encoding}"`);
}
