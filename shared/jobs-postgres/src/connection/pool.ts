import pg from 'pg';

/** Connections that are lent when a pool closes get this long to come back. */
const closeGraceMs = 1_000;

/** The connections of each pool. */
const connections = new WeakMap<pg.Pool, Set<pg.PoolClient>>();

/** What Postgres said when it ended a connection. */
const ends = new WeakMap<object, Error>();

/** A pool that gets over the loss of any of its connections. */
export function createPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  pool.on('error', () => undefined); // an idle connection was cut: the pool drops it and opens another
  const open = new Set<pg.PoolClient>();
  connections.set(pool, open);
  pool.on('connect', (client) => {
    open.add(client);
    // One was cut between two queries of a transaction: the next query fails. Unheard, the event would end the process.
    client.on('error', (error) => {
      if (!ends.has(client)) ends.set(client, error);
    });
  });
  pool.on('remove', (client) => open.delete(client));
  return pool;
}

/** Why Postgres ended a connection while nothing was asked of it; `undefined` if it did not, or did not say. */
export function endOf(client: object): Error | undefined {
  return ends.get(client);
}

/** Closes a pool. What still runs on lent connections after a second is cut off. */
export async function closePool(pool: pg.Pool): Promise<void> {
  const ended = pool.end();
  if (await endsWithin(closeGraceMs, ended)) return;
  for (const client of connections.get(pool) ?? []) cutOff(client);
  // Somebody who never gives a connection back must not keep the process.
  await endsWithin(closeGraceMs, ended);
}

/** Whether a task ends in time; it goes on if not. Rejects as it does. */
export async function endsWithin(timeoutMs: number, task: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const inTime = await Promise.race([task.then(() => true as const), late]);
  clearTimeout(timer);
  return inTime;
}

/** The driver has no name for this: its `end` waits for the statement under way. */
function cutOff(client: pg.PoolClient): void {
  const { connection } = client as { connection?: { stream?: { destroy(): void } } };
  connection?.stream?.destroy();
}
