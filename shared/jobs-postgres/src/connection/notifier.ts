import pg from 'pg';
import { newId } from '@longshore/jobs/storage';
import { connectionConfig, type Database } from './database.js';
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
    this.#sentAt = performance.now();
    const payloads = [...this.#pending].map((queue) => `${this.#origin} ${queue}`);
    this.#pending.clear();
    // Polling makes up for lost notifications.
    this.#sending = this.#database.query(sendNotifications, [payloads]).catch(() => undefined);
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
