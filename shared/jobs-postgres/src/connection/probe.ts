import pg from 'pg';
import type { ClientConfig } from './database-options.js';
import { isSqlState } from './sql-states.js';
import type { Hosts } from './hosts.js';
import { renewCredentials } from './url-file.js';
import { gone } from './watched-session.js';

/** What a probe has found. */
export interface Reply {
  /** Whether the server has sent anything, even if only an error. */
  readonly isAlive: boolean;
  /**
   * Whether the server has opened the connection, or begun to, but has not answered the question: a pooler before a Postgres
   * that is silent, or a Postgres that cannot read.
   */
  readonly isPartial?: boolean;
  /** What the server does in each session, or {@link gone}, by process id; `undefined` if the server did not say. */
  readonly states?: ReadonlyMap<number, string>;
  /** Whether the answer came over a new connection. */
  readonly isNew?: boolean;
}

/** $1 process ids. `state` is null in sessions of other roles, and `disabled` if Postgres does not track it. */
const selectStates = `select pid, coalesce(state, 'unknown') as state from pg_catalog.pg_stat_activity where pid = any($1)`;

/** A connection that only asks whether the server responds, and what its sessions do. */
export class Probe {
  readonly client: pg.Client;
  readonly #connected: Promise<unknown>;

  constructor(config: ClientConfig, hosts: Hosts | undefined) {
    this.client = new pg.Client(config);
    this.client.on('error', () => undefined); // the question fails, too
    this.#connected = this.#connect(config, hosts);
    this.#connected.catch(() => undefined); // reported by `ask`
  }

  /** Whether the server has sent anything. */
  get hasHeard(): boolean {
    const { connection } = this.client as unknown as { connection: { stream: { bytesRead?: number } } };
    return (connection.stream.bytesRead ?? 0) > 0;
  }

  /** Resolves when the server has answered or the connection has failed. */
  async ask(pids: readonly number[]): Promise<Reply> {
    try {
      await this.#connected;
      const { rows } = await this.client.query<{ pid: number; state: string }>(selectStates, [pids]);
      const states = new Map(pids.map((pid) => [pid, gone]));
      for (const { pid, state } of rows) states.set(pid, state);
      return { isAlive: true, states };
    } catch (error) {
      return { isAlive: error instanceof Error && 'code' in error && isSqlState(String(error.code)) };
    }
  }

  async #connect(config: ClientConfig, hosts: Hosts | undefined): Promise<void> {
    await renewCredentials(this.client, config);
    await hosts?.aim(this.client);
    await this.client.connect();
  }
}
