import type { LostServer, Server } from '../job/job.js';
import type { ServerRequest, ServerState } from '../job/server-state.js';
import type { ControlOptions } from './job-control.js';

export interface ServerDescription {
  readonly host: string;
  readonly pid: number;
  readonly queues: readonly string[];
  /** The weights of `queues`, if the server polls them by weight. Absent if it polls them in strict order. */
  readonly queueWeights?: readonly number[];
  /** Names of the jobs for which the server has handlers; it claims only these. If absent, it claims any job. */
  readonly jobNames?: readonly string[];
  readonly concurrency: number;
  /** The version of the server's application, 1 to 100 characters. A new version is recorded as a deployment. */
  readonly version?: string;
  /**
   * Milliseconds without a heartbeat after which the server is declared dead. It sends three heartbeats in this time.
   */
  readonly timeoutMs: number;
}

/** A registered server, as its own process sees it. */
export interface ServerRegistration {
  readonly id: string;
  /** Aborts when the storage has declared this server dead. */
  readonly lost: AbortSignal;
  /** Sends the number of running jobs with the next heartbeat. */
  report(processing: number): void;
  /** Sends the server's state with the next heartbeat; `running` until called. */
  enter(state: ServerState): void;
  /** Removes the server and releases its claims. */
  unregister(): Promise<void>;
}

/** The result of a request to a server. */
export type ServerControlResult =
  /**
   * The request is stored, and the server receives it with its next heartbeat at the latest. `changed` is `false` if
   * this request, or `stop`, had already been made.
   */
  | { readonly outcome: 'ok'; readonly server: Server; readonly changed: boolean }
  /** No server with this id is registered; nothing changed. */
  | { readonly outcome: 'unknown' };

/** Registers, lists and controls servers. */
export interface Servers {
  /**
   * Adds a server and keeps sending its heartbeats, even while the caller's event loop is blocked.
   *
   * @param onRequest called once for each operator's request to this server
   */
  register(
    description: ServerDescription,
    onRequest?: (request: ServerRequest) => void,
  ): Promise<ServerRegistration>;
  /** Lists registered servers, oldest first. */
  list(): Promise<Server[]>;
  /**
   * Lists the servers that were declared dead within the last day, latest first, at most 100. Servers that shut down
   * normally are not included.
   */
  listLost(): Promise<LostServer[]>;
  /** Stops a server from claiming jobs; running jobs finish. Only restarting its process reverts this. */
  quiet(id: string, options?: ControlOptions<Server, ServerControlResult>): Promise<ServerControlResult>;
  /** Shuts a server down in the same way as `JobServer.stop()`. */
  stop(id: string, options?: ControlOptions<Server, ServerControlResult>): Promise<ServerControlResult>;
}
