import { gunzipSync } from 'node:zlib';
import { serve } from '@longshore/test-support';

/** A span as a collector receives it. */
export interface ReceivedSpan {
  readonly service: unknown;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentId: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The ids of the spans that it links to. */
  readonly links: readonly string[];
  /** 0 unset, 1 ok, 2 error. */
  readonly status: number;
}

/** Receives spans over OTLP, as Protocol Buffers over HTTP. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  close(): Promise<void>;
}

/** Starts a receiver on a free port. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const server = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isSpans = request.method === 'POST' && request.url === '/v1/traces';
      if (!isSpans || request.headers['content-type'] !== 'application/x-protobuf') {
        response.writeHead(404).end();
        return;
      }
      const body = Buffer.concat(chunks);
      spans.push(...spansIn(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  return { url: server.url, spans, close: () => server.close() };
}

// The numbers of the fields are those of opentelemetry/proto/trace/v1/trace.proto and its imports.

/** Returns the spans of an `ExportTraceServiceRequest`. */
function spansIn(request: Buffer): ReceivedSpan[] {
  return messages(request, 1).flatMap((resourceSpans) => {
    const [resource = Buffer.alloc(0)] = messages(resourceSpans, 1);
    const service = attributesOf(resource, 1)['service.name'];
    return messages(resourceSpans, 2)
      .flatMap((scopeSpans) => messages(scopeSpans, 2))
      .map((span) => ({ service, ...readSpan(span) }));
  });
}

function readSpan(span: Buffer): Omit<ReceivedSpan, 'service'> {
  const [status = Buffer.alloc(0)] = messages(span, 15);
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentId: hex(span, 4),
    name: messages(span, 5).join(''),
    kind: integer(span, 6),
    attributes: attributesOf(span, 9),
    links: messages(span, 13).map((link) => hex(link, 2)),
    status: integer(status, 3),
  };
}

function attributesOf(message: Buffer, field: number): Record<string, unknown> {
  return Object.fromEntries(
    messages(message, field).map((pair) => {
      const [value = Buffer.alloc(0)] = messages(pair, 2);
      const [text] = messages(value, 1);
      const flag = fields(value).some(([number]) => number === 2);
      return [
        messages(pair, 1).join(''),
        text?.toString() ?? (flag ? integer(value, 2) === 1 : integer(value, 3)),
      ];
    }),
  );
}

function messages(message: Buffer, field: number): Buffer[] {
  return fields(message).flatMap(([number, value]) =>
    number === field && typeof value !== 'number' ? [value] : [],
  );
}

function hex(message: Buffer, field: number): string {
  return messages(message, field)
    .map((value) => value.toString('hex'))
    .join('');
}

function integer(message: Buffer, field: number): number {
  const found = fields(message).find(([number]) => number === field);
  return typeof found?.[1] === 'number' ? found[1] : 0;
}

/** Returns the fields of a message of Protocol Buffers, by number: integers, or the bytes of everything else. */
function fields(message: Buffer): (readonly [number, number | Buffer])[] {
  const found: (readonly [number, number | Buffer])[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message.readUInt8(at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  const bytes = (length: number): Buffer => message.subarray(at, (at += length));
  while (at < message.length) {
    const tag = varint();
    const type = tag & 7;
    const value = type === 0 ? varint() : bytes(type === 2 ? varint() : type === 1 ? 8 : 4);
    found.push([Math.floor(tag / 8), value]);
  }
  return found;
}
