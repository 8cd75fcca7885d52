/** One event, as in the HTML Standard, § 9.2 “Server-sent events”. */
export interface ServerSentEvent {
  /** The type of the event; if omitted, clients see `message`. */
  readonly event?: string;
  /** The id from which a client resumes if it reconnects after this event. Must not contain line breaks. */
  readonly id?: string;
  /** Sent as JSON. */
  readonly data: unknown;
}

/**
 * A stream of events. When the stream ends, the response ends too. Clients then reconnect with the id of the last event
 * that they received.
 */
export interface EventSource {
  readonly events: AsyncIterable<ServerSentEvent>;
  /**
   * Returns the position after all events so far; undefined while events are pending. Sent with heartbeats as the id
   * from which a client resumes.
   */
  readonly position?: () => string | undefined;
  /** Whether the stream has ended for good. The response is then 204, so that clients stop reconnecting. */
  readonly isOver?: boolean;
}
