import { once } from 'node:events';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';

/** Requests server-sent events. Resolves once the response has begun. */
export async function openStream(url: string, headers: OutgoingHttpHeaders = {}): Promise<IncomingMessage> {
  const sent = request(url, { headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

/** Reads a response until it contains `until` or ends, then disconnects. Returns what has been read. */
export async function readUntil(response: IncomingMessage, until: string): Promise<string> {
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    if (text.includes(until)) break;
  }
  return text;
}
