import type { IncomingMessage } from 'node:http';
import { apiError } from '../errors/api-error.js';

/**
 * Maximum length of a URL, in characters. A page repeats the query in every link of its `Link` header, and clients
 * limit the size of headers.
 */
const maxUrlLength = 12_000;

/**
 * Rejects URLs that are too long. Also rejects URLs and `Host` headers that Node accepts although HTTP forbids them
 * (RFC 9110, section 4.2.1; RFC 9112, section 3.2).
 * @throws {ApiError} 41401 if the URL is too long, otherwise 40003
 */
export function requireValidHead({ url = '', httpVersion, rawHeaders }: IncomingMessage): void {
  if (url.length > maxUrlLength)
    throw apiError(41401, `The URL has ${url.length} characters; at most ${maxUrlLength} are allowed`);
  if (!/^[\x21-\x7e]*$/.test(url))
    throw apiError(40003, 'The URL must be ASCII, with any other text as UTF-8 in percent-encoding');
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1) throw apiError(40003, 'The request must have one Host header, not several');
  if (hosts === 0 && httpVersion === '1.1') throw apiError(40003, 'The request has no Host header');
}
