import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as openRequest } from 'node:http';
import type { Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { eventually } from '@longshore/test-support';
import { curlOf, type Request } from './request.js';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** How long to read an event stream, in milliseconds. */
const listenMs = 50;
/** Time after which the client aborts a `?wait` request, in milliseconds. */
const patienceMs = 300;

/**
 * Maximum number of other responses that may arrive before the response to a request. Responses are counted instead of
 * milliseconds, because a busy machine sends fewer of them. Usually, no request is overtaken by more than 150.
 */
const maxOvertaking = 3_000;

/** How to wait while there are no other responses either: for at least two minutes. */
const silence = { checks: 2_400, everyMs: 50 } as const;

/** Thrown if no response arrives while many other requests are answered, or the connection fails. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** Sends requests over a limited number of keep-alive connections. */
export class Client {
  readonly baseUrl: string;
  readonly #agent: Agent;
  /** Number of requests that have ended. */
  #ended = 0;
  /** The latest request on each connection, for the error message if the following request fails. */
  readonly #before = new WeakMap<Socket, Request>();
  sent = 0;

  /** @param connections maximum number of connections */
  constructor(baseUrl: string, connections: number) {
    this.baseUrl = baseUrl;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Sends a request and reads the response. Returns `null` if the client aborted a `?wait` request. Closes an event
   * stream after {@link listenMs}; its text is empty.
   *
   * @throws {NoAnswerError} if no response arrives while many other requests are answered, or the connection fails
   */
  async send(given: Request): Promise<Answer | null> {
    this.sent += 1;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#sendOnce(given);
      } catch (error) {
        // Retries, because the service may close an idle connection just when the client reuses it.
        if (error !== staleConnection || tries === 3) throw error;
      }
    }
  }

  async #sendOnce({ method, path, headers, body }: Request): Promise<Answer | null> {
    const { hostname, port } = new URL(this.baseUrl);
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const sent = openRequest({
      hostname,
      port,
      method,
      path,
      agent: this.#agent,
      headers: { ...headers, ...(bytes && { 'content-length': String(bytes.length) }) },
    });
    const waits = /[?&]wait=/.test(path);
    let previous: Request | undefined;
    let hasEnded = false;
    let isLate = false;
    let hasLeft = false;
    const leave = (): void => {
      hasLeft = true;
      sent.destroy();
    };
    const endedBefore = this.#ended;
    const overtaking = (): number => this.#ended - endedBefore;
    void eventually(overtaking, (count) => hasEnded || count > maxOvertaking, silence)
      .catch(() => undefined)
      .then(() => {
        if (hasEnded) return;
        isLate = true;
        sent.destroy();
      });
    const patience = waits ? setTimeout(leave, patienceMs) : undefined;
    sent.once('socket', (socket: Socket) => {
      previous = this.#before.get(socket);
      this.#before.set(socket, { method, path, headers, body });
    });
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        sent.once('response', resolve);
        sent.on('error', reject);
        sent.end(bytes);
      });
      const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
      if (isStream) setTimeout(() => sent.destroy(), listenMs);
      const text = await read(response, isStream);
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        text,
      };
    } catch (error) {
      if (hasLeft) return null;
      const isStale = sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET' && !isLate;
      if (isStale) throw staleConnection;
      const what = isLate ? `no answer; ${overtaking()} other requests ended meanwhile` : String(error);
      throw new NoAnswerError(
        previous === undefined
          ? what
          : `${what}; the connection was used before: ${curlOf(this.baseUrl, previous)}`,
        { cause: error },
      );
    } finally {
      hasEnded = true;
      this.#ended += 1;
      clearTimeout(patience);
    }
  }
}

const staleConnection = new NoAnswerError('the connection was closed before it could be used again');

async function read(response: IncomingMessage, isStream: boolean): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    if (!isStream) throw error;
  }
  const bytes = Buffer.concat(chunks);
  const encoding = response.headers['content-encoding'];
  if (isStream || bytes.length === 0) return '';
  if (encoding === 'gzip') return gunzipSync(bytes).toString();
  if (encoding === 'br') return brotliDecompressSync(bytes).toString();
  if (encoding === 'deflate') return inflateSync(bytes).toString();
  return bytes.toString();
}
