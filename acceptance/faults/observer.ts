import pg from 'pg';
import { during, eventually } from '@longshore/test-support';
import type { Accepted } from './load.js';

/** How long to wait without progress, in milliseconds. Checks are counted, so a busy machine takes longer. */
const patienceMs = 180_000;

/** SQL condition that matches the connections of the services and of the enqueuers. */
export const theirs = `datname = current_database() and (application_name like 'longshore%' or application_name = 'faults enqueuer')`;

/** Queries the database and enqueues jobs. No fault targets these connections. */
export class Observer {
  readonly #url: string;
  readonly #pool: pg.Pool;

  constructor(url: string) {
    this.#url = url;
    // Keeps a single connection open, because a new one could not be opened while a fault occupies all connections.
    this.#pool = new pg.Pool({ ...this.#connection('observer'), max: 1, idleTimeoutMillis: 0 });
    this.#pool.on('error', () => undefined); // the next query opens another connection
  }

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query<Row>(sql, values)).rows;
  }

  /** Like {@link query}, but retries after errors, for use while Postgres is down. */
  read<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return eventually(() => this.query<Row>(sql, values));
  }

  /** Opens a separate connection. `name` becomes part of the connection's `application_name`. */
  async connect(name: string): Promise<pg.Client> {
    const client = new pg.Client(this.#connection(name));
    client.on('error', () => undefined); // ignored, because the next query fails anyway
    await client.connect();
    return client;
  }

  /** Enqueues a job and resolves to it. Retries after errors. */
  async enqueue(name: 'plain' | 'transactional', ms: number): Promise<Accepted> {
    const { result, from, until } = await during(() =>
      eventually(async () => {
        const sql = `select longshore.enqueue($1, jsonb_build_object('ms', $2::int, 'failures', 0), queue => $1, max_attempts => 1000) as id`;
        const [row] = await this.query<{ id: string }>(sql, [name, ms]);
        return row?.id ?? '';
      }),
    );
    return { id: result, from: from.toISOString(), until: until.toISOString() };
  }

  /** Returns the ids of the unfinished jobs among `ids`, or of all unfinished jobs if `ids` is `null`. */
  async unfinished(ids: readonly string[] | null = null): Promise<string[]> {
    const sql = ['job', 'job_scheduled', 'job_blocked', 'job_awaiting']
      .map(
        (table) =>
          `select id from longshore.${table} where queue_id > 0 and ($1::uuid[] is null or id = any ($1))`,
      )
      .join(' union all ');
    const rows = await this.query<{ id: string }>(sql, [ids]);
    return rows.map(({ id }) => id);
  }

  /**
   * Waits until no job among `ids` is unfinished, or no job at all if `ids` is `null`. Gives up after three minutes in
   * which no job has finished; that is long, because several faults at once also delay jobs.
   *
   * @param everyMs the pause between two checks, in milliseconds
   * @throws {Error} with the number of unfinished jobs
   */
  async untilDone(ids: readonly string[] | null, { everyMs = 20 } = {}): Promise<void> {
    await eventually(
      async () => (await this.unfinished(ids)).length,
      (unfinished) => unfinished === 0,
      { everyMs, checks: patienceMs / everyMs },
    );
  }

  /**
   * Waits until no dependency is unresolved and the outbox is empty.
   *
   * @throws {Error} with the number of what is left
   */
  async untilDependenciesResolved(): Promise<void> {
    await eventually(
      async () =>
        this.query<{ left: number }>(`
          select (select count(*) from longshore.outbox)::integer
            + (select count(*) from longshore.job_dependency where resolved_at is null)::integer as left`),
      ([row]) => row?.left === 0,
      { checks: patienceMs / 20 },
    );
  }

  /**
   * Waits until every server on the list has sent another heartbeat since the call, and runs no jobs. Gives up after 20
   * seconds without a change, and resolves to a description of each other server.
   */
  async busyOrSilentServers(): Promise<string[]> {
    const [start] = await this.query<{ at: string }>('select now()::text as at');
    const others = async (): Promise<string[]> => {
      const rows = await this.query<{ server: string }>(
        `select 'server ' || id || ' runs ' || processing || ' jobs; its last heartbeat was at ' || heartbeat_at as server
         from longshore.server where processing <> 0 or heartbeat_at <= $1 order by id`,
        [start?.at],
      );
      return rows.map(({ server }) => server);
    };
    return eventually(others, ({ length }) => length === 0, { checks: 1_000 }).catch(others);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  #connection(name: string): pg.ClientConfig {
    return {
      connectionString: this.#url,
      application_name: `faults ${name}`,
      connectionTimeoutMillis: 10_000,
    };
  }
}
