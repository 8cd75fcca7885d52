import pg from 'pg';
import { eventually } from '@longshore/test-support';

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

  /** Like {@link query}, but retries for up to a minute, for use while Postgres is down. */
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

  /** Enqueues a job and resolves to its id. Retries for up to a minute. */
  enqueue(name: 'plain' | 'transactional', ms: number): Promise<string> {
    return eventually(
      async () => {
        const sql = `select longshore.enqueue($1, jsonb_build_object('ms', $2::int, 'failures', 0), queue => $1, max_attempts => 1000) as id`;
        const [row] = await this.query<{ id: string }>(sql, [name, ms]);
        return row?.id ?? '';
      },
      { checks: 3_000 },
    );
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

  /** Returns the number of unresolved dependencies plus the number of pending outbox entries. */
  async unresolvedDependencies(): Promise<number> {
    const [row] = await this.query<{ left: number }>(`
      select (select count(*) from longshore.outbox)::integer
        + (select count(*) from longshore.job_dependency where resolved_at is null)::integer as left`);
    return row?.left ?? NaN;
  }

  /**
   * Waits until no server runs jobs and every server has sent a heartbeat within the last five seconds. Gives up after
   * 20 seconds.
   */
  async allIdle(): Promise<void> {
    const quiet = async (): Promise<boolean> =>
      (
        await this.query(
          `select from longshore.server where processing <> 0 or heartbeat_at < now() - interval '5 seconds'`,
        )
      ).length === 0;
    await eventually(quiet, { checks: 1_000 }).catch(() => undefined); // the checks report servers still busy
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
