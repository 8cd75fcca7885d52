import { createServer } from 'node:net';

/**
 * Returns a free TCP port on 127.0.0.1: the preferred port if it is free, otherwise one that the system picks.
 *
 * @throws {Error} if the system does not provide a port either
 */
export async function freePort(preferred = 0): Promise<number> {
  try {
    return await listenOnce(preferred).catch(() => listenOnce(0));
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`Cannot find a free TCP port on 127.0.0.1: ${message}`, { cause: error });
  }
}

/** Checks that a port is free by listening on it; 0 stands for any free port. Resolves to the port. */
function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? port) : port));
    });
  });
}
