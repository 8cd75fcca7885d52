import type { ServerSentEvent } from '../definition/event-source.js';

/** How long a client waits before it asks again, in milliseconds: long enough that a restart is not met by all at once. */
const retryMs = 2_000;

/** What a stream begins with; it makes proxies send the headers on. */
export const preamble = `retry: ${retryMs}\n\n`;

/** An event on the wire. JSON has no line break outside of strings, and none unescaped within. */
export function eventText({ event, id, data }: ServerSentEvent): string {
  const fields = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    `data: ${JSON.stringify(data)}`,
  ];
  return `${fields.join('\n')}\n\n`;
}

/** A comment, which clients ignore; an id beside it is what they go on from, without any event. */
export function heartbeatText(position: string | undefined): string {
  return position === undefined ? ': heartbeat\n\n' : `: heartbeat\nid: ${position}\n\n`;
}
