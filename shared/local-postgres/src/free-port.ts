import { createServer } from 'node:net';

/** Returns a free TCP port on 127.0.0.1: the preferred port if it is free, otherwise one that the system picks. */
export async function freePort(preferred = 0): Promise<number> {
  const port = await listenOnce(preferred);
  return port ?? (await listenOnce(0)) ?? 0;
}

/**
 * Checks that a port is free by listening on it; 0 stands for any free port. Resolves to the port; `null` if listening
 * fails.
 */
function listenOnce(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? null) : null));
    });
  });
}
