import pg from 'pg';
import { eventually } from '../test/system/eventually.js';

/** Looks at the database from outside, on a connection that no fault is aimed at. */
export class Observer {
  readonly #url: string;
  readonly #pool: pg.Pool;

  constructor(url: string) {
    this.#url = url;
    // One connection, kept: there is none to be had while others take them all.
    this.#pool = new pg.Pool({ ...this.#connection('observer'), max: 1, idleTimeoutMillis: 0 });
    this.#pool.on('error', () => undefined); // the next query opens another
  }

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query<Row>(sql, values)).rows;
  }

  /** The same for reads while other faults may be at work: again and again until Postgres answers. */
  read<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return eventually(() => this.query<Row>(sql, values), 60_000);
  }

  /** A further connection, which no fault is aimed at either. */
  async connect(name: string): Promise<pg.Client> {
    const client = new pg.Client(this.#connection(name));
    client.on('error', () => undefined); // the next query fails
    await client.connect();
    return client;
  }

  /** Enqueues a job and resolves to its id; again and again until Postgres takes it. */
  enqueue(name: 'plain' | 'transactional', ms: number): Promise<string> {
    return eventually(async () => {
      const sql = `select longshore.enqueue($1, jsonb_build_object('ms', $2::int, 'failures', 0), queue => $1, max_attempts => 1000) as id`;
      const [row] = await this.query<{ id: string }>(sql, [name, ms]);
      return row?.id ?? '';
    }, 60_000);
  }

  /** Jobs that are not finished, of those given or of all. */
  async unfinished(ids: readonly string[] | null = null): Promise<string[]> {
    const sql = ['job', 'job_waiting', 'job_held', 'job_awaiting']
      .map(
        (table) =>
          `select id from longshore.${table} where queue_id > 0 and ($1::uuid[] is null or id = any ($1))`,
      )
      .join(' union all ');
    const rows = await this.query<{ id: string }>(sql, [ids]);
    return rows.map(({ id }) => id);
  }

  /** How much work is left that jobs' ends have caused. */
  async unsettled(): Promise<number> {
    const [row] = await this.query<{ left: number }>(`
      select (select count(*) from longshore.outbox)::integer
        + (select count(*) from longshore.job_link where settled_at is null)::integer as left`);
    return row?.left ?? NaN;
  }

  /** Resolves when servers have had the time to say with a heartbeat that they run nothing; or after 20 seconds. */
  async allSaid(): Promise<void> {
    const quiet = async (): Promise<boolean> =>
      (
        await this.query(
          `select from longshore.server where processing <> 0 or heartbeat_at < now() - interval '5 seconds'`,
        )
      ).length === 0;
    await eventually(quiet, 20_000).catch(() => undefined); // the checks say who has not
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
