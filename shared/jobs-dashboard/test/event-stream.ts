import { once } from 'node:events';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';

/** Asks for server-sent events; resolves once the answer has begun. */
export async function openStream(url: string, headers: OutgoingHttpHeaders = {}): Promise<IncomingMessage> {
  const asked = request(url, { headers }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return response;
}

/** Reads until the text has come, and goes away. */
export async function readUntil(response: IncomingMessage, until: string): Promise<string> {
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    if (text.includes(until)) break;
  }
  return text;
}
