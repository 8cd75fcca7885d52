import { type IncomingMessage, request } from 'node:http';

/** A server-sent event, or a comment. A comment has only the member `comment`. */
export interface ReceivedEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data?: string;
  readonly retry?: string;
  readonly comment?: string;
}

/** A client of server-sent events, on its own connection. */
export interface EventStreamClient {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Events and comments as they arrive. Ends when the server ends the stream or the connection breaks. */
  readonly events: AsyncGenerator<ReceivedEvent, void, undefined>;
  close(): void;
}

/** Opens a stream of server-sent events. Resolves when the server has responded. */
export async function listenToEvents(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventStreamClient> {
  const sent = request(url, { agent: false, headers: { accept: 'text/event-stream', ...headers } });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
    sent.end();
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events: blocks(response),
    close: () => sent.destroy(),
  };
}

async function* blocks(response: IncomingMessage): AsyncGenerator<ReceivedEvent, void, undefined> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += String(chunk);
      const ended = text.split('\n\n');
      text = ended.pop() ?? '';
      for (const block of ended) yield Object.fromEntries(block.split('\n').map(toField));
    }
  } catch {
    // The connection broke. An incomplete event is dropped.
  }
}

function toField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [colon === 0 ? 'comment' : line.slice(0, colon), line.slice(colon + 1).trim()];
}
