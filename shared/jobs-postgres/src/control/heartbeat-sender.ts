import type { MessagePort } from 'node:worker_threads';
import type { DatabaseOptions } from '../connection/database-options.js';
import { HeartbeatConnection } from './heartbeat-connection.js';
import { type HeartbeatServer, HeartbeatLoop, type HeartbeatNews } from './heartbeat-loop.js';

/**
 * A message to the sender. `start` and `stop` concern the heartbeats of one server. `close` stops all heartbeats and
 * closes the connection.
 */
export type HeartbeatCommand = { readonly start: HeartbeatServer } | { readonly stop: string } | 'close';

/** A message from the sender about one server. */
export interface HeartbeatMessage {
  readonly serverId: string;
  readonly news: HeartbeatNews;
}

/** Sends the heartbeats of several servers over one connection. Messages on `port` start and stop them. */
export function sendHeartbeats(database: DatabaseOptions, port: MessagePort): void {
  const connection = new HeartbeatConnection(database);
  const loops = new Map<string, HeartbeatLoop>();

  const start = (server: HeartbeatServer): void => {
    const loop = new HeartbeatLoop(connection, server, (news) => {
      port.postMessage({ serverId: server.id, news } satisfies HeartbeatMessage);
    });
    loops.set(server.id, loop);
  };

  const stop = async (serverIds: Iterable<string>): Promise<void> => {
    for (const id of serverIds) {
      loops.get(id)?.stop();
      loops.delete(id);
    }
    if (loops.size === 0) await connection.close();
  };

  port.on('message', (command: HeartbeatCommand) => {
    if (command === 'close') void stop(loops.keys()).finally(() => port.close());
    else if ('start' in command) start(command.start);
    else void stop([command.stop]);
  });
}
