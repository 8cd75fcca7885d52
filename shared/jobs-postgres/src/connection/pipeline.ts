import type { Socket } from 'node:net';
import type pg from 'pg';

type Pipelining = pg.ClientBase & {
  pipeline: boolean;
  readonly readyForQuery: boolean;
  readonly connection?: { readonly stream?: Partial<Pick<Socket, 'cork' | 'uncork'>> };
};

/** How many calls of {@link pipelined} are running on a client. */
const running = new WeakMap<object, number>();

/**
 * Runs `work` in pipeline mode: statements are sent without waiting for the results of earlier ones. Those that `work`
 * sends before its first `await` leave in one packet, because a write costs as much as a statement. Pipeline mode is
 * then switched off, because handlers can use cursors, and cursors cannot be pipelined. If other statements have been
 * sent in the meantime, it is switched off when their results have arrived.
 */
export async function pipelined<Result>(client: object, work: () => Promise<Result>): Promise<Result> {
  const connection = client as Pipelining;
  running.set(client, (running.get(client) ?? 0) + 1);
  connection.pipeline = true;
  const stream = connection.connection?.stream;
  try {
    stream?.cork?.();
    const sent = work();
    stream?.uncork?.();
    return await sent;
  } finally {
    const remaining = (running.get(client) ?? 1) - 1;
    running.set(client, remaining);
    if (remaining === 0) switchOff(connection);
  }
}

/**
 * Sends the statements of `send` at once, and waits for all of them. Returns their results, or throws the error of the
 * first that failed, because the others then fail as a consequence.
 */
export async function atOnce<const Calls extends readonly Promise<unknown>[]>(
  client: object,
  send: () => Calls,
): Promise<{ -readonly [Index in keyof Calls]: Awaited<Calls[Index]> }> {
  return pipelined(client, () => allOf(send()));
}

/** Waits for all calls. Returns their results, or throws the error of the first that failed. */
export async function allOf<const Calls extends readonly Promise<unknown>[]>(
  calls: Calls,
): Promise<{ -readonly [Index in keyof Calls]: Awaited<Calls[Index]> }> {
  await Promise.allSettled(calls);
  return Promise.all(calls);
}

function switchOff(connection: Pipelining): void {
  if (connection.readyForQuery) connection.pipeline = false;
  else
    connection.once('drain', () => {
      if ((running.get(connection) ?? 0) === 0) connection.pipeline = false;
    });
}

/** Returns whether an object is a client of `pg` that can pipeline statements, and that is not running any. */
export function canPipeline(client: object): client is pg.ClientBase {
  const { pipeline, readyForQuery } = client as Partial<Pipelining>;
  return typeof pipeline === 'boolean' && readyForQuery === true;
}
