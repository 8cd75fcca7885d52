import type pg from 'pg';

/**
 * Runs `work` while statements are sent on a connection without waiting for the results of earlier ones. All of them must have
 * ended when it settles. Only this is pipelined, and not the whole pool, because cursors cannot be: handlers use them in their
 * transactions.
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
