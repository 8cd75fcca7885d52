import { StorageClosedError } from '@longshore/jobs';
import type { PoolStatus } from '@longshore/jobs/storage';
import pg from 'pg';
import { fromDriver, fromStorage } from './errors.js';
import { unlessAborted } from './unless-aborted.js';
import { ConnectCount, WatchedClient, type WatchedConfig } from './watched-client.js';
import type { Watchdog } from './watchdog.js';
import { destroy } from './watched-session.js';

/** How long a closing pool waits for connections in use to be returned, in milliseconds. */
const closeGraceMs = 1_000;

/** The open connections of each pool. */
const connections = new WeakMap<pg.Pool, Set<pg.PoolClient>>();

/** The connections that each pool of ours has opened. */
const connects = new WeakMap<pg.Pool, ConnectCount>();

/** The first error of each lost connection. */
const connectionErrors = new WeakMap<object, Error>();

type Borrowed = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** The parts of the driver's pool that it does not declare. */
interface DriverPool {
  readonly _clients: readonly pg.PoolClient[];
  readonly _idle: readonly { readonly client: pg.PoolClient }[];
  readonly _pendingQueue: { callback: Borrowed }[];
  /** Gives one waiting caller an idle connection, or opens one for it. */
  _pulseQueue(): void;
}

/**
 * A pool that opens one connection at a time. Many callers that
 * need a connection briefly, such as the loops of a server that starts, thus share a few connections instead of opening one each.
 *
 * Its callers fail with a {@link StorageClosedError} once it is closed, like all calls of the storage. Those that wait for a connection then would
 * otherwise wait until they time out, because the driver does not serve them any more.
 */
class StoragePool extends pg.Pool {
  readonly #unwatch: () => void;
  readonly #opened = new WeakSet<pg.PoolClient>();

  constructor(config: pg.PoolConfig & WatchedConfig) {
    super(config);
    this.on('connect', (client) => {
      this.#opened.add(client);
      process.nextTick(() => this.#serve());
    });
    this.#unwatch = config.watchdog.watchIdle(() => idleClients(this));
  }

  override end(): Promise<void>;
  override end(ended: () => void): void;
  override end(ended?: () => void): Promise<void> | undefined {
    this.#unwatch();
    const result = ended === undefined ? super.end() : super.end(ended);
    for (const { callback } of driverOf(this)._pendingQueue.splice(0))
      callback(new StorageClosedError(), undefined, () => undefined);
    return result as Promise<void> | undefined;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(borrowed: Borrowed): void;
  override connect(borrowed?: Borrowed): Promise<pg.PoolClient> | undefined {
    if (!this.ending) {
      if (borrowed === undefined) return super.connect();
      super.connect(borrowed);
      return undefined;
    }
    if (borrowed === undefined) return Promise.reject(new StorageClosedError());
    process.nextTick(borrowed, new StorageClosedError(), undefined, () => undefined);
    return undefined;
  }

  /** Called by the driver, which does not declare it: whether callers have to wait instead of opening a connection. */
  _isFull(): boolean {
    const { _clients: clients } = driverOf(this);
    const opened = clients.filter((client) => this.#opened.has(client)).length;
    return clients.length >= this.options.max || clients.length > opened;
  }

  /** Serves the callers that wait, now that more connections may be opened. */
  #serve(): void {
    const driver = driverOf(this);
    while (!this.ending && driver._pendingQueue.length > 0 && (driver._idle.length > 0 || !this._isFull()))
      driver._pulseQueue();
  }
}

function driverOf(pool: pg.Pool): DriverPool {
  return pool as unknown as DriverPool;
}

/** Returns the connections of a pool that nobody has borrowed. */
function idleClients(pool: pg.Pool): pg.PoolClient[] {
  // A pool of the application may be of another kind.
  const { _idle: idle = [] } = pool as unknown as Partial<DriverPool>;
  return idle.map(({ client }) => client);
}

/**
 * Closes the connections of a pool: those that nobody has borrowed at once, and those of a pool of ours that are borrowed
 * when they are returned. The pool opens others on demand.
 */
export function renewConnections(pool: pg.Pool): void {
  const driver = pool as unknown as { _remove?: (client: pg.PoolClient) => void };
  // The driver closes a returned connection that has been used often enough.
  for (const client of connections.get(pool) ?? []) Object.assign(client, { _poolUseCount: Infinity });
  for (const client of idleClients(pool)) driver._remove?.(client);
}

/** Creates a pool. The loss of a connection does not end the process. */
export function createPool(config: pg.PoolConfig & WatchedConfig): pg.Pool {
  const count = new ConnectCount();
  const pool = new StoragePool({ Client: WatchedClient, ...config, connects: count });
  connects.set(pool, count);
  pool.on('error', () => undefined); // an idle connection was lost: the pool removes it and opens another on demand
  const open = new Set<pg.PoolClient>();
  connections.set(pool, open);
  pool.on('connect', (client) => {
    open.add(client);
    watch(client);
  });
  pool.on('remove', (client) => open.delete(client));
  return pool;
}

/** Returns the state of a pool. Of a pool of the application, it is not known how many connections were opened. */
export function poolStatus(name: string, pool: pg.Pool): PoolStatus {
  const { totalCount, idleCount, waitingCount, options } = pool;
  const count = connects.get(pool);
  return {
    name,
    size: options.max,
    inUse: totalCount - idleCount,
    idle: idleCount,
    waiting: waitingCount,
    connects: count?.opened ?? 0,
    connectErrors: count?.failed ?? 0,
    connectMs: count?.totalMs ?? 0,
  };
}

/** Returns a function that prepares the session of each new connection of a pool with this SQL, before it is used. */
export function setsUp(text: string, timeoutMs: number): NonNullable<pg.PoolConfig['verify']> {
  const query: pg.QueryConfig & { readonly query_timeout: number } = { text, query_timeout: timeoutMs };
  return (client, done) => client.query(query, (error: Error | null) => done(error ?? undefined));
}

/** Connections that {@link watch} has already been called for. */
const watched = new WeakSet<object>();

/**
 * Records the error if a connection is lost between two queries; the next query then fails. Without a listener, the
 * `error` event would end the process.
 *
 * @throws {TypeError} if the client uses the native bindings of pg
 */
function watch(client: pg.PoolClient): void {
  if (watched.has(client)) return;
  if ('native' in client)
    throw new TypeError('pool uses the native bindings of pg, which the storage does not support');
  watched.add(client);
  client.on('error', (error) => {
    if (!connectionErrors.has(client)) connectionErrors.set(client, error);
  });
}

/**
 * Borrows a connection of the application's pool, whose own attempts to connect nobody watches.
 *
 * @throws {UnresponsiveError} if the server does not respond
 * @throws {TypeError} if the pool uses the native bindings of pg
 */
export async function borrowFrom(
  pool: pg.Pool,
  watchdog: Watchdog,
  statementTimeoutMs: number,
): Promise<pg.PoolClient> {
  const borrowed = pool.connect();
  const client = await watchdog.unlessUnresponsive(borrowed).catch((error: unknown) => {
    borrowed.then(
      (late) => late.release(),
      () => undefined, // nobody needs the connection any more
    );
    throw error;
  });
  try {
    watch(client);
    watchdog.watch(client, statementTimeoutMs);
    return client;
  } catch (error) {
    client.release();
    throw error;
  }
}

/**
 * Runs a statement of the storage. Closes the connection when the signal aborts, so that Postgres stops the statement (see
 * `stopsWithClient`); then rejects with the signal's reason.
 */
export async function queryUntilAborted<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  query: pg.QueryConfig,
  signal: AbortSignal,
): Promise<Row[]> {
  const client = await fromDriver(pool.connect());
  try {
    signal.throwIfAborted();
    const { rows } = await unlessAborted(fromStorage(client.query<Row>(query)), signal);
    client.release();
    return rows;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/**
 * Takes part in the use of the application's pool: its idle connections are closed when they may be lost. Without a listener,
 * the loss of an idle connection would end the process.
 *
 * @returns a function that ends this
 */
export function share(pool: pg.Pool, watchdog: Watchdog): () => void {
  const ignore = (): void => undefined;
  pool.on('error', ignore);
  const unwatch = watchdog.watchIdle(() => idleClients(pool));
  return () => {
    pool.off('error', ignore);
    unwatch();
  };
}

/** Returns the error that broke a watched connection between two queries; `undefined` if there was none. */
export function connectionErrorOf(client: object): Error | undefined {
  return connectionErrors.get(client);
}

/** Closes a pool. Connections that are still in use after a second are cut off. */
export async function closePool(pool: pg.Pool): Promise<void> {
  const ended = pool.end();
  if (await endsWithin(closeGraceMs, ended)) return;
  for (const client of connections.get(pool) ?? []) destroy(client);
  // Waits for at most another second, because a caller might never return its connection.
  await endsWithin(closeGraceMs, ended);
}

/**
 * Waits for a task for up to `timeoutMs`, and returns whether it has completed. Does not stop the task. Rejects if the
 * task rejects in time.
 */
export async function endsWithin(timeoutMs: number, task: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const inTime = await Promise.race([task.then(() => true as const), late]);
  clearTimeout(timer);
  return inTime;
}
