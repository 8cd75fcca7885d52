/** One event, as in the HTML Standard, § 9.2 “Server-sent events”. */
export interface ServerSentEvent {
  /** The event's type; clients see `message` if left out. */
  readonly event?: string;
  /** The position from which a client that has received this event resumes; without line breaks. */
  readonly id?: string;
  /** Sent as JSON. */
  readonly data: unknown;
}

/** A stream of events. The answer ends with it; the client then reconnects with the last id that it has received. */
export interface EventSource {
  readonly events: AsyncIterable<ServerSentEvent>;
  /** The position of a client that has received everything so far; undefined while events are pending. Sent with heartbeats. */
  readonly position?: () => string | undefined;
  /** There will be no more events, now or later: the answer is 204, after which a client does not reconnect. */
  readonly isOver?: boolean;
}
