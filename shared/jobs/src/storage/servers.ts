import type { LostServer, Server, ServerRequest, ServerState } from '../job/job.js';
import type { ControlOptions } from './job-control.js';

export interface ServerDescription {
  readonly host: string;
  readonly pid: number;
  readonly queues: readonly string[];
  /** The weights of `queues`, in the same order. Absent if the server polls its queues in strict order. */
  readonly queueWeights?: readonly number[];
  /** Names of the jobs that the server has handlers for and may claim. If absent, the server may claim any job. */
  readonly jobNames?: readonly string[];
  readonly concurrency: number;
  /**
   * The application's version, 1 to 100 characters. A new version is recorded as a deployment (see
   * {@link Deployments}).
   */
  readonly version?: string;
  /**
   * Milliseconds without a heartbeat after which the server is declared dead. The heartbeat interval is a third of this
   * time.
   */
  readonly timeoutMs: number;
}

/** A handle for a registered server: reports the server's status, and signals if the server is lost. */
export interface ServerRegistration {
  readonly id: string;
  /** Aborted when the storage has declared this server dead or can no longer send its heartbeats. */
  readonly lost: AbortSignal;
  /** Sets the number of running jobs to send with the next heartbeats; 0 until called. */
  report(processing: number): void;
  /** Sets the server state to send with the next heartbeats; `running` until called. */
  enter(state: ServerState): void;
  /**
   * Removes the server, and rescues the jobs that it still has claimed. Each of these jobs loses an attempt, so the
   * server must first release the jobs that it has not started.
   */
  unregister(): Promise<void>;
}

export type ServerControlResult =
  /**
   * The request is stored. The server receives it with the next heartbeat at the latest. `changed` is `false` if the
   * same request, or `stop`, had already been made.
   */
  | { readonly outcome: 'ok'; readonly server: Server; readonly changed: boolean }
  /** No server with this id is registered; nothing changed. */
  | { readonly outcome: 'unknown' };

export interface Servers {
  /**
   * Adds a server, and sends its heartbeats until the server unregisters. The Postgres storage sends them from a
   * separate thread, so that a blocked event loop does not stop them. If the code is bundled or the connection options
   * contain a function, it sends them from the main thread.
   *
   * @param onRequest called once for each new operator request to this server
   */
  register(
    description: ServerDescription,
    onRequest?: (request: ServerRequest) => void,
  ): Promise<ServerRegistration>;
  /** Lists registered servers, oldest first. */
  list(): Promise<Server[]>;
  /**
   * Lists up to 100 servers that were declared dead within the last day, latest first. Servers that shut down normally
   * are not included.
   */
  listLost(): Promise<LostServer[]>;
  /**
   * Stops a server from claiming more jobs; running jobs finish. Only a restart of the server's process undoes this.
   */
  quiet(id: string, options?: ControlOptions<Server, ServerControlResult>): Promise<ServerControlResult>;
  /** Shuts a server down, as if its process had called `JobServer.stop()`. */
  stop(id: string, options?: ControlOptions<Server, ServerControlResult>): Promise<ServerControlResult>;
}
