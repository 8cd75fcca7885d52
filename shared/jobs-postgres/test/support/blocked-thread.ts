import { Worker } from 'node:worker_threads';

/** Number of checks after which the other thread gives up. Like those of `eventually`, they take at least two minutes. */
const checks = 6_000;

/** When to stop blocking in any case, in milliseconds, because mocha cannot end a test that blocks the event loop. */
const hangMs = 300_000;

/**
 * Runs in the other thread, as CommonJS. Stores 1 once the query returns a row, or 2 if it does not or fails, and wakes
 * the blocked thread.
 */
const program = `
  const { createRequire } = require('node:module');
  const { workerData } = require('node:worker_threads');
  const pg = createRequire(workerData.from)('pg');
  async function holds() {
    const client = new pg.Client(workerData.url);
    await client.connect();
    try {
      const { rows } = await client.query('select clock_timestamp()::text as began');
      for (let check = 0; check < workerData.checks; check++) {
        const { rowCount } = await client.query(workerData.sql, [rows[0].began, ...workerData.values]);
        if (rowCount > 0) return true;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return false;
    } finally {
      await client.end();
    }
  }
  holds().catch(() => false).then((held) => {
    Atomics.store(workerData.result, 0, held ? 1 : 2);
    Atomics.notify(workerData.result, 0);
  });`;

/**
 * Blocks the event loop of this thread, as a CPU-bound handler would, until a query returns a row in another thread. Uses
 * no processor time, because a busy loop would slow down tests that run concurrently.
 *
 * @param sql query whose parameter $1 is a time of the database at which this thread was blocked; `values` are $2 and on
 * @throws {Error} if the query fails or returns no row
 */
export function blockUntil(url: string, sql: string, values: readonly unknown[]): void {
  const result = new Int32Array(new SharedArrayBuffer(4));
  const other = new Worker(program, {
    eval: true,
    execArgv: [],
    workerData: { url, sql, values, checks, result, from: import.meta.url },
  });
  other.unref();
  Atomics.wait(result, 0, 0, hangMs);
  if (Atomics.load(result, 0) !== 1) throw new Error(`The query returned no row: ${sql}`);
}
