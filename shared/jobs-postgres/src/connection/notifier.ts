import { newId } from '@longshore/jobs/storage';
import type { Database } from './database.js';
import { channel, NotificationListener } from './notification-listener.js';
import { prepared } from './statement.js';

/** Notifications for the same queue within this many milliseconds are sent as one. */
const debounceMs = 10;

const sendNotifications = prepared(
  'longshore-notify',
  `select pg_notify('${channel}', payload) from unnest($1::text[]) as payload`,
);

/** What a payload says instead of the name of a queue, which would start with a letter or a digit. */
const background = '';
const pulse = '.';
const onCommit = '*';

/**
 * Of the transactions that notify servers when they commit, only one in 200 ms does so, on behalf of the others. Those commit
 * later, if at all, but mostly within this many milliseconds.
 */
const othersCommitMs = 5_000;

type Listener = (queue: string | null) => void;

/**
 * Notifies servers that there may be work. Notifications are sent after the commit, in a separate transaction, because NOTIFY
 * takes a lock that is global to the database. They are only hints: a server that misses one finds the work when it next polls.
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
      // Notifications may have been missed until now.
      onChange: () => this.notifyLocally(null),
    });
  }

  /** Whether this process is notified of all work. While it is not, servers must poll often. */
  get isComplete(): boolean {
    return this.#listener.hears && performance.now() >= this.#commitsUntil;
  }

  /** @param queue the queue with ready jobs; `null` for jobs that are not ready yet and for other background work */
  notify(queue: string | null): void {
    this.notifyLocally(queue);
    this.#pending.add(queue ?? background);
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
    this.#sentAt = performance.now();
    const payloads = [...this.#pending].map((queue) => `${this.#origin} ${queue}`);
    this.#pending.clear();
    // Polling makes up for lost notifications.
    this.#sending = this.#database.query(sendNotifications, [payloads]).catch(() => undefined);
  }

  #receive(payload: string): void {
    const origin = payload.slice(0, this.#origin.length);
    const subject = payload.slice(this.#origin.length + 1);
    if (subject === onCommit) this.#commitsUntil = performance.now() + othersCommitMs;
    if (subject === pulse || origin === this.#origin) return; // local listeners have already been notified
    this.notifyLocally(subject === background || subject === onCommit ? null : subject);
  }
}
