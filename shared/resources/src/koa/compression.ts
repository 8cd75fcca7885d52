import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { smallestEncoding } from '../pipeline/request/encoding.js';

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** Minimum size of a body to compress, in bytes. Compressing a smaller body would save less than one packet. */
const minBytes = 1024;

export type Encoding = 'br' | 'gzip';

/** Returns how a body is to be compressed; undefined if it is too small, or the caller does not accept it compressed. */
export function encodingOf(text: string, acceptEncoding: string): Encoding | undefined {
  if (acceptEncoding === '' || Buffer.byteLength(text) < minBytes) return undefined;
  const encoding = smallestEncoding(acceptEncoding);
  return encoding === 'identity' ? undefined : encoding;
}

export function compress(text: string, encoding: Encoding): Promise<Buffer> {
  // Quality 4 is as fast as gzip but compresses better. The default of 11 is meant for static files.
  return encoding === 'br' ? brotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) : zip(text);
}

/** Returns the strong ETag of a compressed body. It must differ from the ETag of the uncompressed body. */
export function tagOfEncoded(etag: string, encoding: string): string {
  return etag.replace(/"$/, `-${encoding}"`);
}
