import type pg from 'pg';

/**
 * Runs `work` in pipeline mode: statements are sent without waiting for the results of earlier ones. All statements
 * must have completed when `work` settles. Pipeline mode is then switched off, because handlers can use cursors, and
 * cursors cannot be pipelined.
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
