import type { Filter } from '../query/filter.js';

/** One event as the HTML Standard has it, § 9.2 “Server-sent events”. */
export interface ServerSentEvent {
  /** What kind of event; `message` for clients if left out. */
  readonly event?: string;
  /** From where a client that has had this event goes on; no line break in it. */
  readonly id?: string;
  /** Sent as JSON. */
  readonly data: unknown;
}

/** Events as they come. The answer ends with them; a client then asks again, with the last id that it has had. */
export interface EventSource {
  readonly events: AsyncIterable<ServerSentEvent>;
  /** From where a client that has had everything so far goes on; undefined if more is waiting. Sent with heartbeats. */
  readonly position?: () => string | undefined;
  /** Nothing is to come, now or later: the answer is 204, after which a client does not ask again. */
  readonly isOver?: boolean;
}

/** What a listener asks for. */
export interface StreamQuery {
  readonly filters: readonly Filter[];
  /** The id of the last event that it has had; undefined to begin with what comes. */
  readonly lastEventId: string | undefined;
}
