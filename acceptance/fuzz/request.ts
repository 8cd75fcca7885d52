import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Binding, Known } from './known.js';
import { fill } from './placeholder.js';
import type { Plan } from './plan.js';

/** A request that is ready to be sent. */
export interface Request {
  readonly method: string;
  /** Encoded path with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** A planned request whose path parameters and placeholders have been filled in. */
export interface FilledRequest extends Request {
  /** Encoded path without the query. */
  readonly place: string;
  readonly binding: Binding;
}

/**
 * Fills in a plan's path parameters and placeholders with known values.
 *
 * @param own path parameters that are already known, such as the id of an item that an earlier request created
 */
export function fillRequest(plan: Plan, known: Known, own: Binding): FilledRequest {
  const { operation } = plan;
  const sort = plan.query.find(([name]) => name === 'sort')?.[1];
  const found = known.binding(operation, plan.item, own);
  let place = operation.base + operation.template;
  const value = (name: string, number: number): string => {
    if (name === 'now') return new Date(Date.now() + number).toISOString();
    if (name === 'etag') return known.tag(place);
    if (name === 'apiKey') return known.apiKey(number);
    if (name === 'cursor') return known.cursor(place, sort, number);
    return known.id(name, number);
  };
  const binding: Record<string, string> = {};
  place = place.replace(/\{(\w+)\}/g, (_, name: string) => {
    const given = plan.path[name];
    const text = given === undefined ? (found[name] ?? known.id(name, plan.item)) : fill(given, value);
    binding[name] = text;
    return encodePart(inAnyCase(text, plan.item));
  });
  const pairs = plan.query.map(([name, text]) => `${encodePart(name)}=${encodePart(fill(text, value))}`);
  const query = [...pairs, ...(plan.rawQuery === '' ? [] : [plan.rawQuery])].join('&');
  const headers = Object.entries(plan.headers).map(([name, text]) => [name, fill(text, value)] as const);
  return {
    method: operation.method,
    path: query === '' ? place : `${place}?${query}`,
    place,
    binding,
    headers: Object.fromEntries(headers),
    body:
      typeof plan.body === 'string'
        ? fill(plan.body, (...which) => JSON.stringify(value(...which)).slice(1, -1))
        : plan.body,
  };
}

/** Returns some UUIDs in upper case, which name the same items. */
function inAnyCase(text: string, chance: number): string {
  return chance % 5 === 0 && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text)
    ? text.toUpperCase()
    : text;
}

/**
 * Percent-encodes a text, including lone surrogates. Also encodes the dots of `.` and `..`, because clients would
 * remove such segments from paths.
 */
export function encodePart(text: string): string {
  const encoded = text.isWellFormed()
    ? encodeURIComponent(text)
    : encodeURIComponent(text.toWellFormed()).replaceAll('%EF%BF%BD', '%ED%A0%80');
  return /^\.+$/.test(encoded) ? encoded.replaceAll('.', '%2E') : encoded;
}

/**
 * Returns a `curl` command line that repeats the request. Writes the body to a temporary file if it is binary, longer
 * than 3,000 characters, or contains control characters.
 */
export function curlOf(baseUrl: string, { method, path: target, headers, body }: Request): string {
  const options = Object.entries(headers).map(([name, value]) =>
    value === '' ? `-H ${quote(`${name};`)}` : `-H ${quote(`${name}: ${value}`)}`,
  );
  const shown = body === undefined ? [] : [bodyOption(body)];
  return [
    'curl -sig',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    quote(baseUrl + target),
    ...options,
    ...shown,
  ].join(' ');
}

function bodyOption(body: string | Uint8Array): string {
  const isPlain = typeof body === 'string' && body.length <= 3_000 && /^\P{Cc}*$/u.test(body);
  return isPlain ? `-d ${quote(body)}` : `--data-binary @${saved(body)}`;
}

function saved(body: string | Uint8Array): string {
  const directory = path.join(tmpdir(), 'longshore-fuzz-bodies');
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, createHash('sha256').update(body).digest('hex').slice(0, 16));
  writeFileSync(file, body);
  return file;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
