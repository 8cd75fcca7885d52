import type pg from 'pg';

/**
 * Runs `work` in pipeline mode: statements are sent on the connection without waiting for the results of earlier ones. All of
 * them must have completed when `work` settles. The mode is limited to `work`, because cursors cannot be pipelined, and
 * handlers use cursors in their transactions.
 */
export async function pipelined<Result>(client: pg.ClientBase, work: () => Promise<Result>): Promise<Result> {
  const connection = client as pg.ClientBase & { pipeline: boolean };
  connection.pipeline = true;
  try {
    return await work();
  } finally {
    connection.pipeline = false;
  }
}
