import pg from 'pg';
import type { Database } from '../connection/database.js';
import { WatchedClient, watchedConfig } from '../connection/watched-client.js';
import { destroy } from '../connection/watched-session.js';
import { meaning } from '../connection/session.js';

const reconnectMs = 1_000;

/**
 * Selects whether callers' transactions can be prepared for a two-phase commit. If so, `longshore.notify_on_commit`
 * sends nothing, because Postgres refuses to prepare a transaction that notifies.
 */
const preparesTransactions = `select current_setting('max_prepared_transactions')::integer > 0 as prepares`;

export interface NotificationListenerOptions {
  readonly database: Database;
  /** Payload of the pulse, a notification that only tests whether notifications arrive. */
  readonly pulse: string;
  readonly onPayload: (payload: string) => void;
  /** Called when notifications start or stop arriving. */
  readonly onChange: () => void;
  /**
   * How long to wait after a notification before sending a pulse, in milliseconds; 5000 by default. A random delay of
   * up to this length is added.
   */
  readonly silenceMs?: number;
  /** How long to wait for a notification after sending a pulse, in milliseconds; 2000 by default. */
  readonly pulseMs?: number;
}

/**
 * A connection that listens for notifications and detects when they stop arriving. A broken network or a pooler can
 * lose notifications without an error. Therefore, a process that has received nothing for a while sends a pulse to all
 * processes. Any notification proves that the connection works.
 */
export class NotificationListener {
  readonly #options: NotificationListenerOptions;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReceiving = false;
  #isStarted = false;
  #isClosed = false;

  constructor(options: NotificationListenerOptions) {
    this.#options = options;
  }

  /**
   * Whether notifications are known to arrive. Always `false` if callers' transactions can be prepared, because such
   * transactions send no notifications.
   */
  get isReceiving(): boolean {
    return this.#isReceiving;
  }

  /** Connects, and reconnects whenever the connection is lost. Further calls have no effect. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    void this.#connect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const { database, onPayload } = this.#options;
    const client = new WatchedClient({
      ...watchedConfig(database.options, meaning),
      keepAliveInitialDelayMillis: 10_000,
    });
    this.#client = client;
    let prepares = false;
    client.on('notification', ({ payload = '' }) => {
      if (this.#client !== client) return;
      if (!prepares) this.#set(true);
      this.#sendPulseLater(client);
      onPayload(payload);
    });
    client.on('error', () => undefined); // ignored, because 'end' follows
    client.on('end', () => this.#reconnectLater(client));
    try {
      await client.connect();
      const { rows } = await client.query<{ prepares: boolean }>(preparesTransactions);
      prepares = rows[0]?.prepares === true;
      // Listens only after this query, because the notification handler must know `prepares`.
      await client.query(`listen "${database.schema.name}"`);
      await this.#sendPulse(client);
    } catch {
      await client.end().catch(() => undefined);
      this.#reconnectLater(client);
    }
  }

  /**
   * Schedules a pulse; the next notification postpones it. The random delay makes it likely that only one process sends
   * a pulse.
   */
  #sendPulseLater(client: pg.Client): void {
    const { silenceMs = 5_000 } = this.#options;
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(
      () => {
        this.#sendPulse(client).catch(() => destroy(client));
      },
      silenceMs * (1 + Math.random()),
    );
  }

  /** Sends a pulse. Closes the connection if no notification arrives in time. */
  async #sendPulse(client: pg.Client): Promise<void> {
    const { database, pulse, pulseMs = 2_000 } = this.#options;
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#set(false);
      destroy(client);
    }, pulseMs);
    await client.query('select pg_notify($1, $2)', [database.schema.name, pulse]);
  }

  #reconnectLater(client: pg.Client): void {
    if (this.#isClosed || this.#client !== client) return;
    this.#client = undefined;
    clearTimeout(this.#timer);
    this.#set(false);
    this.#timer = setTimeout(() => void this.#connect(), reconnectMs);
  }

  #set(isReceiving: boolean): void {
    if (this.#isReceiving === isReceiving) return;
    this.#isReceiving = isReceiving;
    if (!this.#isClosed) this.#options.onChange();
  }
}
