import type { LostServer, Server } from '../job/job.js';
import type { ServerRequest, ServerState } from '../job/server-state.js';
import type { ControlOptions } from './job-control.js';

export interface ServerDescription {
  readonly host: string;
  readonly pid: number;
  readonly queues: readonly string[];
  /** The names that it has handlers for: it claims jobs of these names only. Without them, jobs of any name. */
  readonly jobNames?: readonly string[];
  readonly concurrency: number;
  /** After this many milliseconds without a heartbeat the server is dead; heartbeats are sent every third of it. */
  readonly timeoutMs: number;
}

/** A registered server, as its own process sees it. */
export interface ServerRegistration {
  readonly id: string;
  /** Aborts when the storage has declared this server dead. */
  readonly lost: AbortSignal;
  /** Sends the number of running jobs with the next heartbeat. */
  report(processing: number): void;
  /** Sends the server's state with the next heartbeat. `running` until then. */
  enter(state: ServerState): void;
  /** Removes the server; claims that it still holds go back to their queues. */
  unregister(): Promise<void>;
}

/** The result of a request to a server. */
export type ServerControlResult =
  /** It knows, or will at its next heartbeat. `changed` is `false` if it had been asked already. */
  | { readonly outcome: 'ok'; readonly server: Server; readonly changed: boolean }
  /** No such server is running. */
  | { readonly outcome: 'unknown' };

/** Registers, lists and controls servers. */
export interface Servers {
  /**
   * Adds a server and keeps its heartbeat going, even while the caller's event loop is blocked.
   *
   * @param onRequest gets each request of an operator's to this server, once
   */
  register(
    description: ServerDescription,
    onRequest?: (request: ServerRequest) => void,
  ): Promise<ServerRegistration>;
  /** Running servers, oldest first. */
  list(): Promise<Server[]>;
  /** Servers declared dead within the last day, latest first; at most 100. Those that shut down in order are not among them. */
  listLost(): Promise<LostServer[]>;
  /** Has a server claim no more jobs; running jobs will finish. Only a restart of its process reverts this. */
  quiet(id: string, options?: ControlOptions<Server, ServerControlResult>): Promise<ServerControlResult>;
  /** Has a server stop in order, as by `JobServer.stop()`. */
  stop(id: string, options?: ControlOptions<Server, ServerControlResult>): Promise<ServerControlResult>;
}
