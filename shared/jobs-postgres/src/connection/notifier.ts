import pg from 'pg';
import { newId } from '@longshore/jobs/storage';
import { connectionConfig, type Database, type Query } from './database.js';
import { prepared } from './statement.js';

const channel = 'longshore';

/** Notifications for the same queue within this many milliseconds are sent as one. */
const debounceMs = 10;

const reconnectMs = 1_000;

const sendNotifications = prepared(
  'longshore-notify',
  `select pg_notify('${channel}', payload) from unnest($1::text[]) as payload`,
);

type Listener = (queue: string | null) => void;

/**
 * Notifies servers that there may be work. Notifications are sent after the commit, in a separate transaction, because NOTIFY
 * takes a lock that is global to the database. They are only hints: a server that misses one finds the work when it next polls.
 */
export class Notifier {
  readonly #database: Database;
  readonly #origin = newId();
  readonly #listeners = new Set<Listener>();
  readonly #pending = new Set<string>();
  #sendTimer: NodeJS.Timeout | undefined;
  #sentAt = -Infinity;
  #sending: Promise<unknown> = Promise.resolve();
  #client: pg.Client | undefined;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @param queue the queue with ready jobs; `null` for jobs that are not ready yet and for other background work */
  notify(queue: string | null): void {
    this.notifyLocally(queue);
    this.#pending.add(queue ?? '');
    if (this.#sendTimer !== undefined || this.#closed) return;
    const waitMs = Math.max(0, this.#sentAt + debounceMs - performance.now());
    if (waitMs === 0) this.#send();
    else this.#sendTimer = setTimeout(() => this.#send(), waitMs);
  }

  /**
   * Returns the statement that sends what {@link notify} would send to other processes, for a caller that sends it itself right
   * behind a statement that makes jobs ready: that saves a round trip. `null` if a notification was sent a moment ago; the caller
   * then calls {@link notify} after its commit.
   */
  following(queues: Iterable<string | null>): Query | null {
    if (this.#sendTimer !== undefined || this.#closed || performance.now() < this.#sentAt + debounceMs)
      return null;
    for (const queue of queues) this.#pending.add(queue ?? '');
    return this.#taken();
  }

  /** Notifies only the listeners of this process. */
  notifyLocally(queue: string | null): void {
    for (const listener of this.#listeners) listener(queue);
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    const connected = this.#client !== undefined || this.#reconnectTimer !== undefined;
    if (!connected && this.#database.options.pooler === 'none') void this.#connect();
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#sendTimer);
    clearTimeout(this.#reconnectTimer);
    await this.#sending;
    await this.#client?.end().catch(() => undefined);
  }

  #send(): void {
    this.#sendTimer = undefined;
    const { statement, values } = this.#taken();
    // Polling makes up for lost notifications.
    this.#sending = this.#database.query(statement, values).catch(() => undefined);
  }

  /** Removes the pending notifications and returns the statement that sends them. */
  #taken(): Query {
    this.#sentAt = performance.now();
    const payloads = [...this.#pending].map((queue) => `${this.#origin} ${queue}`);
    this.#pending.clear();
    return { statement: sendNotifications, values: [payloads] };
  }

  async #connect(): Promise<void> {
    this.#reconnectTimer = undefined;
    const client = new pg.Client({
      ...connectionConfig(this.#database.options),
      keepAliveInitialDelayMillis: 10_000,
    });
    this.#client = client;
    client.on('notification', ({ payload = '' }) => this.#receive(payload));
    client.on('error', () => undefined); // 'end' follows
    client.on('end', () => this.#reconnectLater(client));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch {
      await client.end().catch(() => undefined);
      this.#reconnectLater(client);
    }
  }

  #reconnectLater(client: pg.Client): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = undefined;
    this.#reconnectTimer = setTimeout(() => void this.#connect(), reconnectMs);
  }

  #receive(payload: string): void {
    const origin = payload.slice(0, this.#origin.length);
    if (origin === this.#origin) return; // local listeners have already been notified
    const queue = payload.slice(this.#origin.length + 1);
    this.notifyLocally(queue === '' ? null : queue);
  }
}
