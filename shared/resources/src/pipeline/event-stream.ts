import { Readable } from 'node:stream';
import type { EventSource, ServerSentEvent } from '../definition/event-source.js';

/**
 * How long a stream may be silent before a heartbeat is sent, in milliseconds. The time is short enough that proxies do
 * not close the connection. Heartbeats also detect clients that have disconnected.
 */
const heartbeatMs = 15_000;

const heartbeatCheckMs = 1_000;

/**
 * Time that clients wait before they reconnect, in milliseconds. The time is long enough that not all clients reconnect
 * while the server restarts.
 */
const retryMs = 2_000;

/** All open streams; they share one timer. */
const open = new Set<EventStream>();
let timer: NodeJS.Timeout | undefined;

/**
 * A stream of events as the body of a response. Reads further events only while its buffer has room, so that events for
 * a slow client do not pile up in memory.
 */
export class EventStream extends Readable {
  readonly #source: EventSource;
  readonly #events: AsyncIterator<ServerSentEvent>;
  #isPulling = false;
  #sentAt = performance.now();

  constructor(source: EventSource) {
    super();
    this.#source = source;
    this.#events = source.events[Symbol.asyncIterator]();
    this.#send(`retry: ${retryMs}\n\n`); // also makes proxies forward the headers
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

  /** Sends a heartbeat if the stream has been silent and its buffer is empty. */
  sendHeartbeat(nowMs: number): void {
    if (nowMs - this.#sentAt < heartbeatMs || this.readableLength > 0) return;
    this.#send(heartbeatText(this.#source.position?.()));
  }

  async #endSource(): Promise<void> {
    try {
      await this.#events.return?.();
    } catch {
      // The client has disconnected, so the error cannot be reported to it.
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
    this.#sentAt = performance.now();
    return this.push(text);
  }
}

function sendHeartbeats(): void {
  const nowMs = performance.now();
  for (const stream of open) stream.sendHeartbeat(nowMs);
}

/** Formats an event as text. One `data` line is enough, because JSON text contains no line breaks. */
export function eventText({ event, id, data }: ServerSentEvent): string {
  const fields = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    `data: ${JSON.stringify(data)}`,
  ];
  return `${fields.join('\n')}\n\n`;
}

/**
 * Formats a heartbeat: a comment, which clients ignore. If there is a position, adds it as the id from which clients
 * resume after reconnecting.
 */
function heartbeatText(position: string | undefined): string {
  return position === undefined ? ': heartbeat\n\n' : `: heartbeat\nid: ${position}\n\n`;
}
