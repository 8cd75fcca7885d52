/** The arguments of every job: 20 bytes of JSON if `n` has 14 digits and there is no text. */
export interface Payload {
  readonly n: number;
  readonly text?: string;
}

/**
 * Runs one step of a job: calls `work` and stores its result, or returns the stored result without calling `work` if an
 * earlier attempt of the job got that far.
 */
export type RunStep = (name: string, work: () => number) => Promise<number>;

/** Settings of a contender's server. Names and meanings depend on the contender. */
export type ServerSettings = Readonly<Record<string, number>>;

/**
 * A job system, configured for throughput as the system's documentation recommends. Each contender runs in a separate
 * process.
 */
export interface Contender {
  /** Connects, and creates the tables or queues that this system needs, if any. */
  prepare(): Promise<void>;
  /** Enqueues jobs in bulk, by this system's fastest method. */
  enqueueMany(payloads: readonly Payload[]): Promise<void>;
  /** Enqueues one job; resolves once it is durable. */
  enqueueOne(payload: Payload): Promise<void>;
  /** Starts a server with `onJob` as the handler. */
  startServer(onJob: (payload: Payload) => void, settings: ServerSettings): Promise<void>;
  /** Starts a server whose handler runs durable steps. Absent if this system has none. */
  readonly startStepServer?: (
    onJob: (payload: Payload, step: RunStep) => Promise<void>,
    settings: ServerSettings,
  ) => Promise<void>;
  /** Counts the results of steps that are stored. Absent if this system has no durable steps. */
  readonly storedSteps?: () => Promise<number>;
  /**
   * Starts idle servers with `queues` queues each. Absent if the benchmark supports only one idle server with one
   * queue.
   */
  startIdle?(servers: number, queues: number): Promise<void>;
  /** Stops the server. Resolves when the outcome of every job that ran is durable. */
  stopServer(): Promise<void>;
  /** Counts the jobs that are ready or running. */
  unfinished(): Promise<number>;
  close(): Promise<void>;
}

export type MakeContender = (url: string) => Promise<Contender>;
