import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import bourne from '@hapi/bourne';
import { beginSlice, shorten } from '@longshore/edge';
import type Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { apiError } from '../errors/api-error.js';
import { join } from '../validation/json-schema.js';

/**
 * Returns a function that reads and parses the JSON body of a request. The function resolves to undefined if there is
 * no body.
 */
export function bodyReader(limitBytes: number): (ctx: Koa.Context) => Promise<unknown> {
  // Uses koa-bodyparser only to limit the size of the body and to decompress it. Its JSON mode would silently replace
  // bytes that are not UTF-8.
  const options = {
    enableTypes: ['text'],
    extendTypes: { text: ['application/json', 'application/merge-patch+json'] },
    textLimit: String(limitBytes),
    encoding: null, // reads the body as bytes, not as text
    onerror: (error: Error) => {
      throw readError(error, limitBytes);
    },
  };
  const read = bodyParser(options);
  return async (ctx) => {
    try {
      lowerCoding(ctx.req.headers);
      await read(ctx, async () => {});
      const bytes: unknown = ctx.request.rawBody;
      return Buffer.isBuffer(bytes) && bytes.length > 0 ? parseJson(bytes) : undefined;
    } catch (error) {
      if (!(await discardRest(ctx.req))) ctx.set('connection', 'close');
      throw error;
    }
  };
}

/**
 * Converts `Content-Encoding` to lower case. Codings are case-insensitive (RFC 9110, section 8.4.1), but the parser
 * compares them case-sensitively.
 */
function lowerCoding(headers: IncomingHttpHeaders): void {
  const coding = headers['content-encoding'];
  if (coding !== undefined) headers['content-encoding'] = coding.toLowerCase();
}

function readError(error: Error & { readonly status?: number }, limitBytes: number): Error {
  switch (error.status) {
    case 413:
      return apiError(41301, `The body exceeds ${limitBytes} bytes`, { connection: 'close' });
    case 415:
      return apiError(41501, shorten(error.message, 200));
    default:
      return apiError(40001, `The body cannot be read: ${error.message}`);
  }
}

/** Parsing a larger body takes so long that the checks that follow should begin in a later turn of the event loop. */
const largeBytes = 64 * 1024;

function parseJson(bytes: Buffer): unknown {
  if (bytes.length > largeBytes) beginSlice();
  if (!isUtf8(bytes)) throw notUtf8(bytes);
  return parseText(bytes.toString());
}

function parseText(text: string): unknown {
  try {
    return bourne.parse(text, { protoAction: 'error' });
  } catch (error) {
    throw apiError(40001, `The body is not valid JSON: ${messageOf(error)}`);
  }
}

/**
 * Returns the error for a body that is not UTF-8. Decoding replaces invalid bytes with U+FFFD, so the message names the
 * first field that contains U+FFFD.
 */
function notUtf8(bytes: Buffer): Error {
  const field = placeOfReplacement(parseText(bytes.toString()), '', 0);
  return apiError(40001, `${field === undefined || field === '' ? 'The body' : field} must be UTF-8`);
}

const replacement = '\ufffd';
const maxDepth = 100;

function placeOfReplacement(value: unknown, path: string, depth: number): string | undefined {
  if (typeof value === 'string') return value.includes(replacement) ? path : undefined;
  if (typeof value !== 'object' || value === null || depth === maxDepth) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${name}]` : join(path, shorten(name, 100));
    const field = name.includes(replacement) ? at : placeOfReplacement(member, at, depth + 1);
    if (field !== undefined) return field;
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Maximum number of bytes of a rejected body that are read and discarded. */
const maxBytes = 1024 * 1024;
/** Maximum time spent reading the rest of a rejected body, in milliseconds. */
const maxMs = 500;

/**
 * Reads and discards the rest of a rejected body, up to {@link maxBytes} and for at most {@link maxMs} milliseconds.
 * Some clients do not read the response before they have sent the whole body.
 * @returns false if part of the body remains unread; the connection must then be closed after the response
 */
async function discardRest(request: IncomingMessage): Promise<boolean> {
  request.unpipe();
  if (request.readableEnded || request.destroyed) return request.readableEnded;
  await new Promise<void>((resolve) => {
    let bytes = 0;
    const timer = setTimeout(done, maxMs);
    function done(): void {
      clearTimeout(timer);
      request.off('data', count).off('end', done).off('close', done);
      resolve();
    }
    function count(chunk: Buffer): void {
      bytes += chunk.length;
      if (bytes > maxBytes) done();
    }
    request.on('data', count).once('end', done).once('close', done);
    request.resume();
  });
  return request.readableEnded;
}
