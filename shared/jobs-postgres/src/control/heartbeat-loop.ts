import type { ServerRequest, ServerState } from '@longshore/jobs/storage';
import type { HeartbeatConnection } from './heartbeat-connection.js';

/** The server of a {@link HeartbeatLoop}, in a form that can be passed to another thread. */
export interface HeartbeatServer {
  readonly id: string;
  readonly intervalMs: number;
  /** Two 32-bit integers: the number of running jobs and the index of the server's state in `states`. */
  readonly reported: SharedArrayBuffer;
  readonly states: readonly ServerState[];
}

/** What the answer to a heartbeat reports: `lost` if the server has been declared dead, or an operator's request. */
export type HeartbeatNews = 'lost' | ServerRequest;

/** Sends the heartbeats of one server until {@link stop} is called or the server has been declared dead. */
export class HeartbeatLoop {
  readonly #connection: HeartbeatConnection;
  readonly #server: HeartbeatServer;
  readonly #reported: Int32Array;
  readonly #onNews: (news: HeartbeatNews) => void;
  #timer: NodeJS.Timeout;
  #stopped = false;
  /**
   * How many milliseconds this machine's clock is ahead of the database's; `null` if unknown. Measured by each
   * heartbeat and reported with the next.
   */
  #clockAheadMs: number | null = null;
  #lastNews: HeartbeatNews | null = null;

  /** @param onNews called if the answer to a heartbeat reports something that the previous answer did not report */
  constructor(
    connection: HeartbeatConnection,
    server: HeartbeatServer,
    onNews: (news: HeartbeatNews) => void,
  ) {
    this.#connection = connection;
    this.#server = server;
    this.#reported = new Int32Array(server.reported);
    this.#onNews = onNews;
    // The first heartbeat is sent early, because it can be the slowest: on a busy machine, connecting takes seconds.
    this.#timer = setTimeout(() => void this.#next(), server.intervalMs / 3);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #next(): Promise<void> {
    const pauseMs = await this.#sendHeartbeat().catch(() => this.#retryMs);
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#next(), pauseMs);
  }

  /** Sends a heartbeat. Resolves to the time until the next one, in milliseconds. */
  async #sendHeartbeat(): Promise<number> {
    const { id, intervalMs, states } = this.#server;
    const state = states[Atomics.load(this.#reported, 1)];
    const values = [id, Atomics.load(this.#reported, 0), state, this.#clockAheadMs];
    const beat = await this.#connection.send(values, intervalMs);
    if (beat?.sent === false) return this.#retryMs;
    if (beat !== undefined) this.#clockAheadMs = beat.clockAheadMs;
    const news = beat === undefined ? 'lost' : beat.requested;
    const isNew = news !== null && news !== this.#lastNews && !this.#stopped;
    this.#lastNews = news;
    if (news === 'lost') this.stop();
    if (!isNew) return intervalMs;
    this.#onNews(news);
    // Sends the next heartbeat soon, because the server is about to change its state and the operator is waiting to see
    // the change.
    return Math.min(200, intervalMs);
  }

  /** Interval between a failed heartbeat and the next, in milliseconds. */
  get #retryMs(): number {
    return Math.min(1_000, this.#server.intervalMs);
  }
}
