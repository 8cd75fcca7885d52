import pg from 'pg';

/** How long a closing pool waits for connections in use to be returned, in milliseconds. */
const closeGraceMs = 1_000;

/** The open connections of each pool. */
const connections = new WeakMap<pg.Pool, Set<pg.PoolClient>>();

/** The first error of each connection that was lost while in use. */
const ends = new WeakMap<object, Error>();

/** Creates a pool that survives the loss of any of its connections. */
export function createPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  pool.on('error', () => undefined); // an idle connection was lost: the pool drops it and opens another
  const open = new Set<pg.PoolClient>();
  connections.set(pool, open);
  pool.on('connect', (client) => {
    open.add(client);
    watch(client);
  });
  pool.on('remove', (client) => open.delete(client));
  return pool;
}

/** The connections that are watched for their loss. */
const watched = new WeakSet<object>();

/**
 * Records the loss of a connection between two queries of a transaction; the next query then fails. Without a listener, the
 * event would end the process.
 */
export function watch(client: pg.PoolClient): void {
  if (watched.has(client)) return;
  if ('native' in client)
    throw new TypeError('pool uses the native bindings of pg, which the storage does not support');
  watched.add(client);
  client.on('error', (error) => {
    if (!ends.has(client)) ends.set(client, error);
  });
}

/** Returns why Postgres ended an idle connection; `undefined` if it did not, or gave no reason. */
export function endOf(client: object): Error | undefined {
  return ends.get(client);
}

/** Closes a pool. Work on connections that are still in use after a second is cut off. */
export async function closePool(pool: pg.Pool): Promise<void> {
  const ended = pool.end();
  if (await endsWithin(closeGraceMs, ended)) return;
  for (const client of connections.get(pool) ?? []) cutOff(client);
  // A caller that never returns its connection must not keep the process alive.
  await endsWithin(closeGraceMs, ended);
}

/** Returns whether a task ends in time; if not, it keeps running. Rejects if the task does. */
export async function endsWithin(timeoutMs: number, task: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const inTime = await Promise.race([task.then(() => true as const), late]);
  clearTimeout(timer);
  return inTime;
}

/** Closes the socket: the driver's `end` would wait for the running statement. */
export function cutOff(client: object): void {
  const { connection } = client as { connection?: { stream?: { destroy(): void } } };
  connection?.stream?.destroy();
}
