import {
  delayOf,
  dueHorizonMs,
  newId,
  type Notification,
  type NotificationListener as Listener,
} from '@longshore/jobs/storage';
import type { Database, Query } from './database.js';
import { NotificationListener } from './notification-listener.js';
import { payloadOf, queueDigest, readPayload } from './notification-payload.js';
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
 * How long the servers of this process poll frequently after a notification from a caller's transaction, in
 * milliseconds. At most one caller's transaction per 200 ms sends a notification, so polling must find the jobs of the
 * others.
 */
const othersCommitMs = 5_000;

/**
 * Notifies servers that there might be work. Sends notifications after the commit, in a separate transaction, because
 * NOTIFY takes a database-wide lock. A server that misses a notification finds the work with its next poll.
 */
export class Notifier {
  readonly #database: Database;
  readonly #origin = newId();
  readonly #listeners = new Set<Listener>();
  /** The names of the queues of this process' servers, by digest. */
  readonly #queues = new Map<string, string>();
  readonly #listener: NotificationListener;
  readonly #pending = new Map<string, Pending>();
  /** What only the servers of this process were notified of. Others must know of it when these servers stop. */
  readonly #kept = new Map<string, Kept>();
  #sendTimer: NodeJS.Timeout | undefined;
  #sentAt = -Infinity;
  #sending: Promise<unknown> = Promise.resolve();
  #commitsUntil = -Infinity;
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
    this.#listener = new NotificationListener({
      database,
      pulse: `${this.#origin} ${payloadOf({ kind: 'pulse' })}`,
      onPayload: (payload) => this.#receive(payload),
      // Calls the listeners, because some notifications might have been missed.
      onChange: () => void this.notifyLocally({ kind: 'any' }),
    });
  }

  /** Whether this process is notified of all work. If `false`, servers must poll often. */
  get isComplete(): boolean {
    return this.#listener.isReceiving && performance.now() >= this.#commitsUntil;
  }

  /**
   * Notifies the servers of this process now. Notifies other processes within 10 ms, unless a server of this process
   * takes care of the work, or every server finds it in time anyway.
   */
  notify(notification: Notification): void {
    if (this.#isForOthers(notification, this.notifyLocally(notification))) this.#notifyOthers(notification);
  }

  /**
   * Returns a statement that notifies other processes like {@link notify}. To save a round trip, callers send it
   * together with a statement that makes jobs ready, and call {@link notifyLocally} after the commit. Returns `null` if a
   * notification was sent less than 10 ms ago, no notification has to be sent, or the notifier is closed. In this case,
   * the caller must call {@link notify} after the commit.
   */
  takeStatement(notifications: readonly Notification[]): Query | null {
    if (this.#sendTimer !== undefined || this.#closed || performance.now() < this.#sentAt + debounceMs)
      return null;
    const sent = notifications.filter((each) => each.kind === 'ready');
    if (sent.length < notifications.length || sent.length === 0) return null;
    for (const each of sent) this.#add(this.#pending, each);
    return this.#drainPending();
  }

  /** Notifies only the servers of this process. Returns whether one of them takes care of the work. */
  notifyLocally(notification: Notification): boolean {
    let isDone = false;
    for (const listener of this.#listeners) if (listener(notification)) isDone = true;
    return isDone;
  }

  /** @param queues the queues for which other processes notify the listener of ready jobs */
  listen(listener: Listener, queues: readonly string[] = []): () => void {
    this.#listeners.add(listener);
    for (const queue of queues) this.#queues.set(queueDigest(queue), queue);
    if (this.#database.options.pooler === 'none') this.#listener.start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#passOn();
    };
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
    const now = performance.now();
    this.#sentAt = now;
    const payloads = Array.from(this.#pending.values(), ({ notification, at }) => {
      const timed = 'inMs' in notification ? { ...notification, inMs: Math.max(0, at - now) } : notification;
      return `${this.#origin} ${payloadOf(timed)}`;
    });
    this.#pending.clear();
    return { statement: sendNotifications, values: [payloads] };
  }

  /** Adds a notification, unless an equal one that is due no later is there. */
  #add(to: Map<string, Pending>, notification: Notification): void {
    const key = notification.kind === 'ready' ? `ready ${notification.queue}` : notification.kind;
    const at = performance.now() + delayOf(notification);
    if (at < (to.get(key)?.at ?? Infinity)) to.set(key, { notification, at });
  }

  /** Returns whether other processes must be notified, given whether a server of this process takes care of the work. */
  #isForOthers(notification: Notification, isDone: boolean): boolean {
    if (isDone && notification.kind !== 'ready') this.#keep(notification);
    return !isDone && delayOf(notification) <= dueHorizonMs;
  }

  #keep(notification: Notification): void {
    const at = performance.now() + delayOf(notification);
    const kept = this.#kept.get(notification.kind);
    const [first, last] = kept === undefined ? [at, at] : [Math.min(kept.first, at), Math.max(kept.last, at)];
    this.#kept.set(notification.kind, { notification, first, last });
  }

  /**
   * Notifies other processes of what the last server of this process, which is stopping, may not have done. Others look
   * at the latest after `dueHorizonMs`, so older notifications are of no use.
   */
  #passOn(): void {
    const now = performance.now();
    for (const { notification, first, last } of this.#kept.values()) {
      if (last < now - dueHorizonMs || first > now + dueHorizonMs) continue;
      this.#notifyOthers(
        'inMs' in notification ? { ...notification, inMs: Math.max(0, first - now) } : notification,
      );
    }
    this.#kept.clear();
  }

  #notifyOthers(notification: Notification): void {
    this.#add(this.#pending, notification);
    if (this.#sendTimer !== undefined || this.#closed) return;
    const waitMs = Math.max(0, this.#sentAt + debounceMs - performance.now());
    if (waitMs === 0) this.#send();
    else this.#sendTimer = setTimeout(() => this.#send(), waitMs);
  }

  #receive(payload: string): void {
    const origin = payload.slice(0, this.#origin.length);
    const subject = readPayload(payload.slice(this.#origin.length + 1), this.#queues);
    if (subject === undefined) return;
    if (subject.kind === 'commit') this.#commitsUntil = performance.now() + othersCommitMs;
    if (subject.kind === 'pulse' || origin === this.#origin) return; // only a test, or already delivered locally
    this.notifyLocally(subject.kind === 'commit' ? { kind: 'any' } : subject);
  }
}

interface Pending {
  readonly notification: Notification;
  /** When it is due, as measured by `performance.now()`. */
  readonly at: number;
}

/** The notifications of one kind. */
interface Kept {
  readonly notification: Notification;
  /** When the first and the last of them are due, as measured by `performance.now()`. */
  readonly first: number;
  readonly last: number;
}
