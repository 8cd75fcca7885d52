import { Readable } from 'node:stream';
import { type EventSource, resultOf, type ServerSentEvent } from '../../definition/storage.js';
import { parseFilterQuery } from '../../query/query-parser.js';
import { eventStream } from '../request.js';
import type { CheckedRequest, Execute } from './checked-request.js';
import { parentFilters } from './collection.js';

/** The headers of an event stream. `X-Accel-Buffering` stops nginx from buffering events. */
const headers = { 'content-type': eventStream, 'cache-control': 'no-store', 'x-accel-buffering': 'no' };

/** Serves GET on a collection whose storage has `stream`, as server-sent events. */
export function streamEvents(checked: CheckedRequest<'collection'>): Execute {
  const { resource, storage } = checked.route;
  const filters = parseFilterQuery(resource, checked.request.query);
  const { 'last-event-id': last = '' } = checked.request.headers;
  const query = {
    filters: [...filters, ...parentFilters(checked.context.parentFields)],
    lastEventId: last === '' ? undefined : last,
  };
  return async (context) => {
    if (checked.request.method === 'HEAD') return { status: 200, headers };
    const source = await resultOf(storage.stream?.(query, context, checked.request.signal));
    if (source.isOver === true) return { status: 204, headers: {} };
    return { status: 200, headers, body: new EventStream(source) };
  };
}

/**
 * How long a stream can be silent before a heartbeat, in milliseconds. Short enough that proxies keep the connection
 * open. Heartbeats also detect clients that have disconnected.
 */
const heartbeatMs = 15_000;

const heartbeatCheckMs = 1_000;

/** How long clients wait before they reconnect, in milliseconds. Gives the server time to restart. */
const retryMs = 2_000;

/** All open streams. A single timer sends their heartbeats. */
const open = new Set<EventStream>();
let timer: NodeJS.Timeout | undefined;

/**
 * A stream of events as the body of a response. Reads more events only while the buffer has room, so that events for a
 * slow client do not pile up in memory.
 */
export class EventStream extends Readable {
  readonly #source: EventSource;
  readonly #events: AsyncIterator<ServerSentEvent>;
  readonly #now: () => number;
  #isPulling = false;
  #sentAt: number;

  /** @param now returns milliseconds of a monotonic clock */
  constructor(source: EventSource, now: () => number = () => performance.now()) {
    super();
    this.#source = source;
    this.#now = now;
    this.#sentAt = now();
    this.#events = source.events[Symbol.asyncIterator]();
    this.#send(`retry: ${retryMs}\n\n`); // the first bytes also make proxies forward the headers
    open.add(this);
    timer ??= setInterval(sendHeartbeats, heartbeatCheckMs).unref();
  }

  override _read(): void {
    if (this.#isPulling) return;
    this.#isPulling = true;
    void this.#pull().catch((error: unknown) =>
      this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    open.delete(this);
    if (open.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    void this.#endSource();
    callback(error);
  }

  /** Sends a heartbeat if the stream has been silent for {@link heartbeatMs} and its buffer is empty. */
  sendHeartbeat(): void {
    if (this.#now() - this.#sentAt < heartbeatMs || this.readableLength > 0) return;
    this.#send(heartbeatText(this.#source.position?.()));
  }

  async #endSource(): Promise<void> {
    try {
      await this.#events.return?.();
    } catch {
      // Ignored, because the stream is closed and cannot report errors to the client.
    }
  }

  async #pull(): Promise<void> {
    for (;;) {
      const next = await this.#events.next();
      if (this.destroyed) return;
      if (next.done === true) {
        this.push(null);
        return;
      }
      if (!this.#send(eventText(next.value))) break;
    }
    this.#isPulling = false;
  }

  #send(text: string): boolean {
    this.#sentAt = this.#now();
    return this.push(text);
  }
}

function sendHeartbeats(): void {
  for (const stream of open) stream.sendHeartbeat();
}

/** Formats an event as text. One `data` line is enough, because JSON.stringify escapes line breaks. */
export function eventText({ event, id, data }: ServerSentEvent): string {
  const fields = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    `data: ${JSON.stringify(data)}`,
  ];
  return `${fields.join('\n')}\n\n`;
}

/**
 * Formats a heartbeat as a comment, because clients ignore comments. Adds the position, if any, as the id from which
 * clients resume.
 */
function heartbeatText(position: string | undefined): string {
  return position === undefined ? ': heartbeat\n\n' : `: heartbeat\nid: ${position}\n\n`;
}
