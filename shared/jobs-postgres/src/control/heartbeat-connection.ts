import type { Client, QueryConfig, QueryResult } from 'pg';
import type { DatabaseOptions } from '../connection/database-options.js';
import { atOnce } from '../connection/pipeline.js';
import { Schema } from '../connection/schema.js';
import { clockDifference } from './clock-difference.js';
import { beat, type BeatRow } from './servers.sql.js';

/** The answer to a heartbeat. */
export interface Beat extends Pick<BeatRow, 'sent' | 'requested'> {
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
export class HeartbeatConnection {
  readonly #database: DatabaseOptions;
  readonly #statement: string;
  #client: Promise<Client> | undefined;
  /** Begins a transaction with the settings of the storage, because a pooler may run each on another connection. */
  #begin = '';

  constructor(database: DatabaseOptions) {
    this.#database = database;
    this.#statement = new Schema(database.schema).render(beat.text);
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
