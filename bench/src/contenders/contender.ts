/** The arguments of every job: 20 bytes of JSON if `n` has 14 digits and there is no text. */
export interface Payload {
  readonly n: number;
  readonly text?: string;
}

/** The settings of a contender's server; their meaning depends on the contender. */
export type ServerSettings = Readonly<Record<string, number>>;

/** A job system, used as its own documentation recommends for throughput. Each contender runs in a separate process. */
export interface Contender {
  /** Connects and creates the tables. */
  prepare(): Promise<void>;
  /** Enqueues jobs in bulk, in the way that is fastest for this system. */
  enqueueMany(payloads: readonly Payload[]): Promise<void>;
  /** Enqueues one job; resolves once it is durable. */
  enqueueOne(payload: Payload): Promise<void>;
  /** Starts a server with `onJob` as the handler. */
  startServer(onJob: (payload: Payload) => void, settings: ServerSettings): Promise<void>;
  /**
   * Starts idle servers, each with `queues` queues. Absent for a contender that the benchmark runs as one server with
   * one queue per process.
   */
  startIdle?(servers: number, queues: number): Promise<void>;
  /** Stops the server. Resolves when the outcome of every job that ran is durable. */
  stopServer(): Promise<void>;
  /** Counts the jobs that are ready or running. */
  unfinished(): Promise<number>;
  close(): Promise<void>;
}

export type MakeContender = (url: string) => Promise<Contender>;
