import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import bourne from '@hapi/bourne';
import type Koa from 'koa';
import readAll from 'raw-body';
import { apiError } from '../errors/api-error.js';
import { join } from '../validation/field-path.js';
import { discardRest } from './discarded-body.js';

/** Returns a function that reads and parses the JSON body of a request, or returns undefined if it is empty. */
export function bodyReader(limitBytes: number): (ctx: Koa.Context) => Promise<unknown> {
  return async (ctx) => {
    try {
      const bytes = await bytesOf(ctx.req, limitBytes);
      return bytes.length === 0 ? undefined : parseJson(bytes);
    } catch (error) {
      if (!(await discardRest(ctx.req))) ctx.set('connection', 'close');
      throw error;
    }
  };
}

async function bytesOf(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity', 'content-length': length } = request.headers;
  const stream = decoded(request, encoding.toLowerCase());
  try {
    return await readAll(stream, { limit: limitBytes, length: stream === request ? (length ?? null) : null });
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 413)
      throw apiError(41301, `The body exceeds ${limitBytes} bytes`, { connection: 'close' });
    throw apiError(40001, `The body cannot be read: ${messageOf(error)}`);
  }
}

function decoded(request: IncomingMessage, encoding: string): NodeJS.ReadableStream {
  switch (encoding) {
    case 'identity':
      return request;
    case 'gzip':
    case 'deflate':
      return request.pipe(createUnzip());
    case 'br':
      return request.pipe(createBrotliDecompress());
    default:
      throw apiError(41501, `Unsupported Content-Encoding: ${encoding.slice(0, 100)}`);
  }
}

function parseJson(bytes: Buffer): unknown {
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

/** Decoding replaces bytes that are not UTF-8, which shows where they are. */
function notUtf8(bytes: Buffer): Error {
  const place = placeOfReplacement(parseText(bytes.toString()), '', 0);
  return apiError(40001, `${place === undefined || place === '' ? 'The body' : place} must be UTF-8`);
}

const replacement = '\ufffd';
const maxDepth = 100;

function placeOfReplacement(value: unknown, place: string, depth: number): string | undefined {
  if (typeof value === 'string') return value.includes(replacement) ? place : undefined;
  if (typeof value !== 'object' || value === null || depth === maxDepth) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${place}[${name}]` : join(place, name.slice(0, 100));
    const found = name.includes(replacement) ? at : placeOfReplacement(member, at, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
