/** One event, as in the HTML Standard, § 9.2 “Server-sent events”. */
export interface ServerSentEvent {
  /** The type of the event; if omitted, clients see `message`. */
  readonly event?: string;
  /** Where a client that has received this event resumes after reconnecting. Must not contain line breaks. */
  readonly id?: string;
  /** Sent as JSON. */
  readonly data: unknown;
}

/**
 * A stream of events. The response ends when the stream does; the client then reconnects with the id of the last event
 * that it received.
 */
export interface EventSource {
  readonly events: AsyncIterable<ServerSentEvent>;
  /**
   * Returns the position at which a client resumes once it has received all events so far; undefined while events are
   * pending. Sent with heartbeats.
   */
  readonly position?: () => string | undefined;
  /** Whether the stream has ended for good. The response is then 204, which makes clients stop reconnecting. */
  readonly isOver?: boolean;
}
