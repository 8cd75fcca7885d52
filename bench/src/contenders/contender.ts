/** The arguments of every job: 20 bytes as JSON, if `n` has 14 digits. */
export interface Payload {
  readonly n: number;
}

/** How a contender's server is set up; what the numbers mean is the contender's. */
export type ServerSettings = Readonly<Record<string, number>>;

/** One job system, driven the way its own documentation recommends for throughput. Each runs in a process of its own. */
export interface Contender {
  /** Connects and makes the tables. */
  prepare(): Promise<void>;
  /** Hands over jobs in bulk, in the shape that is fastest for this system. */
  enqueueMany(payloads: readonly Payload[]): Promise<void>;
  /** Hands over one job; resolves once it is durable. */
  enqueueOne(payload: Payload): Promise<void>;
  /** Starts to run jobs; `onJob` is the handler. */
  startServer(onJob: (payload: Payload) => void, settings: ServerSettings): Promise<void>;
  /** Resolves when the outcome of every job that ran is durable. */
  stopServer(): Promise<void>;
  /** Jobs that are ready or running. */
  unfinished(): Promise<number>;
  close(): Promise<void>;
}

export type MakeContender = (url: string) => Promise<Contender>;
