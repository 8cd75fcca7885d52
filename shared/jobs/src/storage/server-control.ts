import type { Server } from '../job/job.js';
import type { ControlOptions } from './job-control.js';

/** What became of a request to a server. */
export type ServerControlResult =
  /** It knows, or will at its next heartbeat. `changed` is `false` if it had been asked already. */
  | { readonly outcome: 'ok'; readonly server: Server; readonly changed: boolean }
  /** No such server runs. */
  | { readonly outcome: 'unknown' };

/** What operators ask of servers. A heartbeat goes out each third of a server's `timeoutMs`. */
export interface ServerControl {
  /** Has a server take no more jobs; those that run go on. Nothing takes this back but a new start of its process. */
  quietServer(id: string, options?: ControlOptions<Server>): Promise<ServerControlResult>;
  /** Has a server stop in order, as by `JobServer.stop()`. */
  stopServer(id: string, options?: ControlOptions<Server>): Promise<ServerControlResult>;
}
