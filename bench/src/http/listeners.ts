import { type ClientRequest, get } from 'node:http';

/** At once, while they connect: the service's backlog of connections is no longer. */
const connecting = 100;

/** Connections that are open and mostly silent. */
export interface Listeners {
  /** Resolves to the milliseconds until each of those that have been asked for has received a text with this in it. */
  told(text: string, count: number): Promise<number>;
  close(): void;
}

/**
 * Asks for each URL on a connection of its own, and goes on when all have been sent.
 *
 * @param streams whether answers begin at once; long polls answer later
 * @throws {Error} if one of them is refused
 */
export async function listen(urls: readonly string[], streams: boolean): Promise<Listeners> {
  const requests: ClientRequest[] = [];
  let heard = (_text: string): void => undefined;
  const open = (url: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const request = get(url, { agent: false, headers: { accept: 'text/event-stream, application/json' } });
      requests.push(request);
      request.once('error', reject);
      if (!streams) request.once('finish', () => resolve());
      request.once('response', (response) => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`GET ${url}: ${response.statusCode}`));
        response.setEncoding('utf8').on('data', (chunk: string) => heard(chunk));
        response.on('error', () => undefined);
      });
    });
  for (let from = 0; from < urls.length; from += connecting)
    await Promise.all(urls.slice(from, from + connecting).map(open));
  return {
    told: (text, count) => {
      const startedMs = performance.now();
      let left = count;
      return new Promise((resolve) => {
        heard = (chunk) => {
          if (chunk.includes(text) && --left === 0) resolve(performance.now() - startedMs);
        };
      });
    },
    close: () => {
      for (const request of requests) request.on('error', () => undefined).destroy();
    },
  };
}
