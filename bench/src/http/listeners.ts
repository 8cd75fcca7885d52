import { type ClientRequest, get, type IncomingMessage } from 'node:http';

/** Number of connections to open at a time. Low enough not to overflow the service's accept backlog. */
const connecting = 100;

/** Open connections that are mostly silent. */
export interface Listeners {
  /**
   * Waits until `text` has arrived `count` times, on all connections together. Resolves to the elapsed time, in
   * milliseconds.
   */
  delivered(text: string, count: number): Promise<number>;
  close(): void;
}

/**
 * Requests each URL on a separate connection. Resolves when every stream has started, or when every long poll has been
 * sent.
 *
 * @param streams true for streams, false for long polls
 * @throws {Error} if a connection fails or a stream's status is not 200
 */
export async function listen(urls: readonly string[], streams: boolean): Promise<Listeners> {
  const requests: ClientRequest[] = [];
  let onChunk = (_chunk: string, _response: IncomingMessage): void => undefined;
  const open = (url: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const request = get(url, { agent: false, headers: { accept: 'text/event-stream, application/json' } });
      requests.push(request);
      request.once('error', reject);
      if (!streams) request.once('finish', () => resolve());
      request.once('response', (response) => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`GET ${url}: ${response.statusCode}`));
        response.setEncoding('utf8').on('data', (chunk: string) => onChunk(chunk, response));
        response.on('error', () => undefined);
      });
    });
  for (let from = 0; from < urls.length; from += connecting)
    await Promise.all(urls.slice(from, from + connecting).map(open));
  return {
    delivered: (text, count) => {
      const startedMs = performance.now();
      let left = count;
      /** The end of each response so far, because a chunk can end within `text`. */
      const ends = new Map<IncomingMessage, string>();
      return new Promise((resolve) => {
        onChunk = (chunk, response) => {
          const parts = `${ends.get(response) ?? ''}${chunk}`.split(text);
          ends.set(response, parts.at(-1)?.slice(1 - text.length) ?? '');
          left -= parts.length - 1;
          if (left <= 0) resolve(performance.now() - startedMs);
        };
      });
    },
    close: () => {
      for (const request of requests) request.on('error', () => undefined).destroy();
    },
  };
}
