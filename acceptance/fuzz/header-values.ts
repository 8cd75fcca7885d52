import fc from 'fast-check';
import { oddTexts } from './odd-values.js';
import { placeholder } from './placeholder.js';

const tags = ['*', '"x"', 'W/"x"', '"a", "b"', '', ',', '"', 'x', '*, "x"', '"x'.repeat(2_000)];

/** Unusual values by header name. Some of them are valid. */
const values: Readonly<Record<string, readonly string[]>> = {
  'if-match': [placeholder('etag', 0), placeholder('etag', 0), `W/${placeholder('etag', 0)}`, ...tags],
  'if-none-match': [placeholder('etag', 0), placeholder('etag', 0), `W/${placeholder('etag', 0)}`, ...tags],
  'idempotency-key': [
    ...Array.from({ length: 12 }, (_, index) => `key-${index}`),
    '',
    ' ',
    'a b',
    '"quoted"',
    'ü',
    'x'.repeat(255),
    'x'.repeat(256),
  ],
  prefer: [
    'respond-async',
    'respond-async',
    'count=exact',
    'count=none',
    'count=estimated',
    'count=exact, count=none',
    'respond-async; wait=10',
    ';=,',
    '',
    'x'.repeat(3_000),
  ],
  'last-event-id': [
    ...[-600_000, -1_000, 0, 600_000].map((offset) => placeholder('now', offset)),
    '0001-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
    '2026-02-30T00:00:00.000Z',
    '',
    '1',
    'x'.repeat(300),
  ],
  accept: [
    '*/*',
    'application/json',
    'application/json; charset=utf-8',
    'application/json;version=1;q=0.5',
    'text/event-stream; charset=utf-8',
    'application/problem+json',
    'application/problem+json, application/json;q=0.1',
    'text/html',
    'text/event-stream',
    'application/*;q=0',
    '*/*;q=0',
    'a/b;q=x',
    ';;',
    '',
  ],
  'content-type': [
    'application/json;charset=utf-8',
    'application/json; charset=latin1',
    'application/merge-patch+json',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    ';',
    '',
  ],
  'content-encoding': ['gzip', 'br', 'deflate', 'identity', 'x', ''],
  'accept-encoding': ['gzip', 'br', 'gzip;q=0', '*', 'identity;q=0', 'x'],
  'x-request-id': ['r1', '', 'x'.repeat(500), 'a"b', '{}'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '00-0-0-00', '', 'x'.repeat(500)],
  // Includes API keys that earlier requests created. They may be expired, read-only or restricted to certain queues.
  'x-api-key': [...Array.from({ length: 9 }, (_, number) => placeholder('apiKey', number)), '', 'lsk_x'],
  authorization: [
    '',
    'Bearer',
    'Bearer x',
    'Basic eDp4',
    `Bearer ${'x'.repeat(3_000)}`,
    'Bearer lsk_0000000000000000_x',
  ],
};

/** Headers that are occasionally sent with any operation. */
const everywhere = [
  'accept',
  'accept-encoding',
  'x-request-id',
  'traceparent',
  'authorization',
  'x-api-key',
  'prefer',
  'if-match',
  'if-none-match',
];
const withBody = ['content-type', 'content-encoding', 'idempotency-key'];

/** Whether HTTP permits this text as a header value. */
const isSendable = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text);

type Headers = Readonly<Record<string, string>>;

/**
 * Generates request headers. Headers that the operation declares are more frequent than others.
 *
 * @param declared names of the header parameters that the operation declares
 * @param takesBody whether the headers may describe a body
 */
export function headers(declared: readonly string[], takesBody: boolean): fc.Arbitrary<Headers> {
  const own = declared.map((name) => name.toLowerCase());
  const any = [...everywhere, ...(takesBody ? withBody : []), ...own];
  return fc.oneof(
    { arbitrary: fc.constant({}), weight: 4 },
    ...(own.length === 0 ? [] : [{ arbitrary: someOf(own, own.length), weight: 4 }]),
    { arbitrary: someOf(any, 2), weight: 3 },
  );
}

function someOf(names: readonly string[], maxLength: number): fc.Arbitrary<Headers> {
  return fc
    .uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: maxLength })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((name) => [name, headerValue(name)]))));
}

function headerValue(name: string): fc.Arbitrary<string> {
  const odd = fc.constantFrom(...oddTexts.filter(isSendable).map((text) => text.trim()));
  const own = values[name];
  if (own === undefined) return odd;
  return fc.oneof({ arbitrary: fc.constantFrom(...own), weight: 6 }, { arbitrary: odd, weight: 1 });
}
