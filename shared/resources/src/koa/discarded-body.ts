import type { IncomingMessage } from 'node:http';

/** Limits for reading a rejected body. By then its sender has read the answer, or never will. */
const maxBytes = 1024 * 1024;
const maxMs = 500;

/**
 * Reads the rest of a rejected body, up to a limit, so that its sender gets to read the answer.
 * @returns false if there is more: the connection must then be closed after the answer
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
