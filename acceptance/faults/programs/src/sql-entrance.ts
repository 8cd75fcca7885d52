import pg from 'pg';
import type { Accepted } from './http-entrance.js';
import type { Order } from './job-order.js';

const enqueue = `
  select longshore.enqueue($1, $2, queue => $1, max_attempts => 1000,
    run_at => case when $3::float8 > 0 then now() + $3 * interval '1 millisecond' end,
    unique_key => case $1 when 'unique' then $4 end,
    concurrency_key => case $1 when 'keyed' then $4 end, concurrency_limit => case $1 when 'keyed' then $5::integer end) as id`;

/** Enqueues with the SQL function `longshore.enqueue` on one connection. Reconnects after a failure. */
export class SqlEntrance {
  readonly #url: string;
  #client: pg.Client | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  /** Enqueues one job: the callback if `order` is a batch, otherwise the job. Resolves after the commit. */
  async enqueue(order: Order): Promise<Accepted> {
    const { name, args, delayMs, withRow } = order.kind === 'batch' ? order.callback : order.job;
    try {
      this.#client ??= await this.#connect();
      const client = this.#client;
      if (withRow) await client.query('begin');
      const { rows } = await client.query<{ id: string }>(enqueue, [
        name,
        args,
        delayMs,
        args.key ?? null,
        args.limit ?? null,
      ]);
      const id = rows[0]?.id ?? '';
      if (withRow) {
        await client.query('insert into ledger.request values ($1) on conflict do nothing', [id]);
        await client.query('commit');
      }
      return { what: 'job', id };
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'faults enqueuer',
      connectionTimeoutMillis: 5_000,
      query_timeout: 15_000,
    });
    client.on('error', () => undefined); // ignored, because the next query fails anyway
    await client.connect();
    return client;
  }
}
