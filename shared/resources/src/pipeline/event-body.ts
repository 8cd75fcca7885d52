import { Readable } from 'node:stream';
import type { EventSource, ServerSentEvent } from '../definition/event-source.js';
import { eventText, heartbeatText, preamble } from './event-text.js';

/** Silence that proxies do not take for a dead connection, and after which a dead one is noticed. */
const heartbeatMs = 15_000;

/** How often it is looked whether any stream is silent. */
const lookMs = 1_000;

/** One timer for all streams. */
const open = new Set<EventBody>();
let timer: NodeJS.Timeout | undefined;

/** The body of an answer that is a stream of events. It asks for an event when the client has taken the one before. */
export class EventBody extends Readable {
  readonly #source: EventSource;
  readonly #events: AsyncIterator<ServerSentEvent>;
  #isPulling = false;
  #sentAt = performance.now();

  constructor(source: EventSource) {
    super();
    this.#source = source;
    this.#events = source.events[Symbol.asyncIterator]();
    this.#send(preamble);
    open.add(this);
    timer ??= setInterval(beat, lookMs).unref();
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
    void this.#leave();
    callback(error);
  }

  /** Sends a heartbeat if nothing has been sent for long, and the client has taken all of it. */
  beat(nowMs: number): void {
    if (nowMs - this.#sentAt < heartbeatMs || this.readableLength > 0) return;
    this.#send(heartbeatText(this.#source.position?.()));
  }

  async #leave(): Promise<void> {
    try {
      await this.#events.return?.();
    } catch {
      // Nobody is there any more to be told.
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

function beat(): void {
  const nowMs = performance.now();
  for (const body of open) body.beat(nowMs);
}
