import { newId } from '@longshore/jobs/storage';
import type { Database, Query } from './database.js';
import { NotificationListener } from './notification-listener.js';
import { prepared } from './statement.js';

/**
 * Minimum time between two sends, in milliseconds. Notifications for the same queue during this time are sent as one.
 */
const debounceMs = 10;

/** $1 payloads. Notifies on the channel named after the schema. */
const sendNotifications = prepared(
  'longshore-notify',
  `select pg_notify('longshore', payload)::text from unnest($1::text[]) as payload`,
);

/**
 * Values sent in place of a queue name: `background` if there is background work, `pulse` to test the connection, and
 * `onCommit` when a caller's transaction commits. Queue names start with a letter or a digit, so they never equal these
 * values.
 */
const background = '';
const pulse = '.';
const onCommit = '*';

/**
 * How long the servers of this process poll frequently after a notification from a caller's transaction, in
 * milliseconds. At most one caller's transaction per 200 ms sends a notification, so polling must find the jobs of the
 * others.
 */
const othersCommitMs = 5_000;

type Listener = (queue: string | null) => void;

/**
 * Notifies servers that there might be work. Sends notifications after the commit, in a separate transaction, because
 * NOTIFY takes a database-wide lock. A server that misses a notification finds the work with its next poll.
 */
export class Notifier {
  readonly #database: Database;
  readonly #origin = newId();
  readonly #listeners = new Set<Listener>();
  readonly #listener: NotificationListener;
  readonly #pending = new Set<string>();
  #sendTimer: NodeJS.Timeout | undefined;
  #sentAt = -Infinity;
  #sending: Promise<unknown> = Promise.resolve();
  #commitsUntil = -Infinity;
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
    this.#listener = new NotificationListener({
      database,
      pulse: `${this.#origin} ${pulse}`,
      onPayload: (payload) => this.#receive(payload),
      // Calls the listeners, because some notifications might have been missed.
      onChange: () => this.notifyLocally(null),
    });
  }

  /** Whether this process is notified of all work. If `false`, servers must poll often. */
  get isComplete(): boolean {
    return this.#listener.isReceiving && performance.now() >= this.#commitsUntil;
  }

  /**
   * Notifies the listeners of this process now, and other processes within 10 ms.
   *
   * @param queue the queue with ready jobs; `null` for jobs that are not ready yet and for other background work
   */
  notify(queue: string | null): void {
    this.notifyLocally(queue);
    this.#pending.add(queue ?? background);
    if (this.#sendTimer !== undefined || this.#closed) return;
    const waitMs = Math.max(0, this.#sentAt + debounceMs - performance.now());
    if (waitMs === 0) this.#send();
    else this.#sendTimer = setTimeout(() => this.#send(), waitMs);
  }

  /**
   * Returns a statement that notifies other processes like {@link notify}. To save a round trip, callers send it
   * together with a statement that makes jobs ready. Returns `null` if a notification was sent less than 10 ms ago or
   * the notifier is closed. In this case, the caller must call {@link notify} after the commit.
   */
  takeStatement(queues: Iterable<string | null>): Query | null {
    if (this.#sendTimer !== undefined || this.#closed || performance.now() < this.#sentAt + debounceMs)
      return null;
    for (const queue of queues) this.#pending.add(queue ?? background);
    return this.#drainPending();
  }

  /** Notifies only the listeners of this process. */
  notifyLocally(queue: string | null): void {
    for (const listener of this.#listeners) listener(queue);
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#database.options.pooler === 'none') this.#listener.start();
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#sendTimer);
    await this.#sending;
    await this.#listener.close();
  }

  #send(): void {
    this.#sendTimer = undefined;
    const { statement, values } = this.#drainPending();
    // Errors are ignored, because polling makes up for lost notifications.
    this.#sending = this.#database.query(statement, values).catch(() => undefined);
  }

  /** Removes the pending notifications and returns the statement that sends them. */
  #drainPending(): Query {
    this.#sentAt = performance.now();
    const payloads = [...this.#pending].map((queue) => `${this.#origin} ${queue}`);
    this.#pending.clear();
    return { statement: sendNotifications, values: [payloads] };
  }

  #receive(payload: string): void {
    const origin = payload.slice(0, this.#origin.length);
    const subject = payload.slice(this.#origin.length + 1);
    if (subject === onCommit) this.#commitsUntil = performance.now() + othersCommitMs;
    if (subject === pulse || origin === this.#origin) return; // only a test, or already delivered locally
    this.notifyLocally(subject === background || subject === onCommit ? null : subject);
  }
}
