import type { IncomingMessage } from 'node:http';

/** Maximum number of bytes of a rejected body that are read and discarded. */
const maxBytes = 1024 * 1024;
/** Maximum time spent reading the rest of a rejected body, in milliseconds. */
const maxMs = 500;

/**
 * Reads and discards the rest of a rejected body, up to {@link maxBytes} and for at most {@link maxMs} milliseconds.
 * Some clients do not read the response before they have sent the whole body.
 * @returns false if part of the body remains unread; the connection must then be closed after the response
 */
export async function discardRest(request: IncomingMessage): Promise<boolean> {
  request.unpipe();
  if (request.readableEnded || request.destroyed) return request.readableEnded;
  await new Promise<void>((resolve) => {
    let bytes = 0;
    const timer = setTimeout(done, maxMs);
    function done(): void {
      clearTimeout(timer);
      request.off('data', count).off('end', done).off('close', done);
      resolve();
    }
    function count(chunk: Buffer): void {
      bytes += chunk.length;
      if (bytes > maxBytes) done();
    }
    request.on('data', count).once('end', done).once('close', done);
    request.resume();
  });
  return request.readableEnded;
}
