import type { IncomingMessage } from 'node:http';

/** So much of a body that nobody wants is read on, and for so long: then its sender has the answer, or never will. */
const mostBytes = 1024 * 1024;
const longestMs = 500;

/**
 * Reads on what is left of a body that was refused, within bounds, so that its sender gets to read the answer. False if that was not
 * all: then the connection is of no use to another request, and has to be closed after the answer.
 */
export async function discardRest(request: IncomingMessage): Promise<boolean> {
  request.unpipe();
  if (request.readableEnded || request.destroyed) return request.readableEnded;
  await new Promise<void>((resolve) => {
    let bytes = 0;
    const timer = setTimeout(done, longestMs);
    function done(): void {
      clearTimeout(timer);
      request.off('data', count).off('end', done).off('close', done);
      resolve();
    }
    function count(chunk: Buffer): void {
      bytes += chunk.length;
      if (bytes > mostBytes) done();
    }
    request.on('data', count).once('end', done).once('close', done);
    request.resume();
  });
  return request.readableEnded;
}
