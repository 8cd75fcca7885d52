import { createServer, type RequestListener } from 'node:http';

export interface TestServer {
  /** `http://127.0.0.1:port`, without a trailing slash. */
  readonly url: string;
  /** Stops the server and closes all open connections. */
  close(): Promise<void>;
}

/** Serves a request listener, such as a Koa application's `callback()`, on a free port of 127.0.0.1. */
export async function serve(listener: RequestListener): Promise<TestServer> {
  // Node's default of 5 s is too short. A test that compiles code can block the event loop for longer, and the server
  // would then close a connection that `fetch` is about to reuse.
  const server = createServer({ keepAliveTimeout: 65_000 }, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
