import type { MessagePort } from 'node:worker_threads';
import type { ServerRequest, ServerState } from '@longshore/jobs/storage';
import type { Client, QueryConfig, QueryResult } from 'pg';
import type { DatabaseOptions } from '../connection/database-options.js';
import { atOnce } from '../connection/pipeline.js';
import { Schema } from '../connection/schema.js';
import { beat, type BeatRow } from './servers.sql.js';

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

/** The server of a {@link HeartbeatLoop}, in a form that can be passed to another thread. */
interface HeartbeatServer {
  readonly id: string;
  readonly intervalMs: number;
  /** Two 32-bit integers: the number of running jobs and the index of the server's state in `states`. */
  readonly reported: SharedArrayBuffer;
  readonly states: readonly ServerState[];
}

/** What the answer to a heartbeat reports: `lost` if the server has been declared dead, or an operator's request. */
type HeartbeatNews = 'lost' | ServerRequest;

/** Sends the heartbeats of one server until {@link stop} is called or the server has been declared dead. */
class HeartbeatLoop {
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

/** The answer to a heartbeat. */
interface Beat extends Pick<BeatRow, 'sent' | 'requested'> {
  /**
   * How far this machine's clock is ahead of the database's, in milliseconds. `null` if the answer took more than a
   * second or this machine's clock was set back.
   */
  readonly clockAheadMs: number | null;
}

/**
 * The connection that carries the heartbeats of a store's servers. Connects when a heartbeat is sent, and reconnects
 * after a failure.
 */
class HeartbeatConnection {
  readonly #database: DatabaseOptions;
  readonly #statement: string;
  #client: Promise<Client> | undefined;
  /** Begins a transaction with the settings of the storage, because a pooler may run each on another connection. */
  #begin = '';

  constructor(database: DatabaseOptions) {
    this.#database = database;
    this.#statement = new Schema(database.schema, database.distribution).statement(beat).text;
  }

  /**
   * Sends a heartbeat. Resolves to `undefined` if the server has been declared dead. Rejects and closes the connection
   * if the heartbeat fails or is not answered in time.
   *
   * @param timeoutMs maximum time to wait for the answer, in milliseconds
   */
  async send(values: unknown[], timeoutMs: number): Promise<Beat | undefined> {
    this.#client ??= this.#connect(timeoutMs);
    const used = this.#client;
    try {
      const client = await used;
      const query = { text: this.#statement, values, query_timeout: timeoutMs };
      const sentAtMs = Date.now();
      const [row] = (await this.#run(client, query)).rows;
      return row && { ...row, clockAheadMs: clockDifference(sentAtMs, Number(row.now), Date.now()) };
    } catch (error) {
      if (this.#client === used) await this.close();
      throw error;
    }
  }

  async #run(client: Client, query: QueryConfig): Promise<QueryResult<BeatRow>> {
    if (this.#database.pooler === 'none') return client.query<BeatRow>(query);
    const [, result] = await atOnce(client, () => [
      client.query(this.#begin),
      client.query<BeatRow>(query),
      client.query('commit'),
    ]);
    return result;
  }

  /** Closes the connection. The next heartbeat opens a new one. */
  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.then((opened) => opened.end()).catch(() => undefined);
  }

  /**
   * Connects. Loads the driver here, because loading takes a third of a second of CPU time, and many servers stop
   * before their first heartbeat.
   */
  async #connect(timeoutMs: number): Promise<Client> {
    const [{ WatchedClient, watchedConfig }, { localSettings, meaning }] = await Promise.all([
      import('../connection/watched-client.js'),
      import('../connection/session.js'),
    ]);
    const database = this.#database;
    this.#begin = `begin; ${localSettings(meaning)}`;
    const applicationName = `${database.applicationName} heartbeat`;
    const client = new WatchedClient(
      watchedConfig({ ...database, applicationName, statementTimeoutMs: Math.ceil(timeoutMs) }, meaning),
    );
    client.on('error', () => undefined); // the next heartbeat fails and reconnects
    await client.connect();
    return client;
  }
}

/** Maximum round-trip time, in milliseconds, at which a reading of the database's clock is usable. */
const MAX_UNSURE_MS = 1_000;

/** Maximum difference that the database column can hold (a 32-bit integer), in milliseconds: 24.8 days. */
const MAX_MS = 2 ** 31 - 1;

/**
 * Returns how far this machine's clock is ahead of the database's, in milliseconds; negative if it is behind. Assumes
 * that the database read its clock halfway between request and response, as NTP does (RFC 5905 § 8). Returns `null` if
 * the response took more than a second or this machine's clock was set back. Clamps differences beyond 24.8 days.
 */
export function clockDifference(sentAtMs: number, storageMs: number, answeredAtMs: number): number | null {
  const tookMs = answeredAtMs - sentAtMs;
  if (tookMs < 0 || tookMs > MAX_UNSURE_MS) return null;
  return Math.max(-MAX_MS, Math.min(MAX_MS, Math.round(sentAtMs + tookMs / 2 - storageMs)));
}
