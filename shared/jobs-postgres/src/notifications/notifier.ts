import {
  bothReady,
  delayOf,
  dueHorizonMs,
  type LocalNotification,
  newId,
  type Notification,
  type NotificationListener as Listener,
  readyIn,
  type ReadyJobs,
} from '@longshore/jobs/storage';
import type { Database, Query } from '../connection/database.js';
import { NotificationListener } from './notification-listener.js';
import {
  type Offer,
  type OfferedJobs,
  payloadOf,
  queueDigest,
  readPayload,
  sendNotifications,
  type SentRow,
} from './notification-payload.js';
import { Offers } from './offers.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';

/**
 * Minimum time between two sends, in milliseconds. Notifications for the same queue during this time are sent as one.
 */
const debounceMs = 10;

/**
 * How long the servers of this process poll frequently after a caller's transaction that has notified, in milliseconds.
 * At most one caller's transaction per 200 ms notifies, so polling must find the jobs of the others.
 */
const othersCommitMs = 5_000;

/** How soon background work is looked for after a caller's transaction, in milliseconds. */
const soonMs = 1_000;

/**
 * Notifies servers that there might be work. Sends notifications after the commit, in a separate transaction, because
 * NOTIFY takes a database-wide lock. A server that misses a notification finds the work with its next poll.
 *
 * Offers a few ready jobs to one server only, and notifies all of them if nobody has claimed the jobs soon after.
 */
export class Notifier {
  readonly #database: Database;
  readonly #origin = newId();
  readonly #listeners = new Set<Listener>();
  /** The names of the queues of this process' servers, by digest. */
  readonly #queues = new Map<string, string>();
  /** The ids of this process' servers. */
  readonly #servers = new Set<string>();
  readonly #listener: NotificationListener;
  readonly #offers: Offers;
  readonly #pending = new Map<string, Pending>();
  /** What only the servers of this process were notified of. Others must know of it when these servers stop. */
  readonly #kept = new Map<string, Kept>();
  #sendTimer: NodeJS.Timeout | undefined;
  #sentAt = -Infinity;
  #sending: Promise<unknown> = Promise.resolve();
  #commitsUntil = -Infinity;
  #closed = false;

  constructor(database: Database, queues: QueueIdCache) {
    this.#database = database;
    this.#offers = new Offers(database, queues, (queue) => this.#notifyOthers(readyIn(queue)));
    this.#listener = new NotificationListener({
      database,
      pulse: `${this.#origin} ${payloadOf({ kind: 'pulse' })}`,
      onPayload: (payload) => this.#receive(payload),
      // Calls the listeners, because some notifications might have been missed.
      onChange: () => void this.notifyLocally({ kind: 'listening', inMs: 0 }),
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
  takeStatement(notifications: readonly Notification[]): Sending | null {
    if (this.#sendTimer !== undefined || this.#closed || performance.now() < this.#sentAt + debounceMs)
      return null;
    const sent = notifications.filter((notification) => notification.kind === 'ready');
    if (sent.length < notifications.length || sent.length === 0) return null;
    for (const notification of sent) this.#add(notification);
    return this.#drainPending();
  }

  /** Notifies only the servers of this process. Returns whether one of them takes care of the work. */
  notifyLocally(notification: LocalNotification): boolean {
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

  /** Makes this process receive what is offered to a server. Returns a function that ends this. */
  serve(serverId: string): () => void {
    this.#servers.add(serverId);
    return () => this.#servers.delete(serverId);
  }

  /** Sends what is left to send. */
  async close(): Promise<void> {
    await this.#offers.close();
    this.#closed = true;
    if (this.#sendTimer !== undefined) {
      clearTimeout(this.#sendTimer);
      this.#send();
    }
    await this.#sending;
    await this.#listener.close();
  }

  #send(): void {
    this.#sendTimer = undefined;
    try {
      const { statement, values, onRows } = this.#drainPending();
      // Errors are ignored, because polling makes up for lost notifications.
      this.#sending = this.#database.query<SentRow>(statement, values).then(onRows, () => undefined);
    } catch (error) {
      // Runs in a timer, where an error would end the process.
      this.#pending.clear();
      process.emitWarning(
        `Notifications could not be sent, so servers find the work by polling: ${String(error)}`,
      );
    }
  }

  /** Removes the pending notifications and returns the statement that sends them. */
  #drainPending(): Sending {
    const now = performance.now();
    this.#sentAt = now;
    const payloads: string[] = [];
    const offers = new Map<string, ReadyJobs>();
    for (const { notification, at } of this.#pending.values()) {
      if (notification.kind === 'ready' && notification.names !== undefined) {
        offers.set(queueDigest(notification.queue), notification);
        this.#offers.add(notification);
      } else if ('inMs' in notification)
        payloads.push(payloadOf({ ...notification, inMs: Math.max(0, at - now) }));
      else payloads.push(payloadOf(notification));
    }
    this.#pending.clear();
    const offered = Array.from(offers, ([digest, { queue, jobs = 0, names = [] }]): OfferedJobs => ({
      queue,
      digest,
      jobs,
      names,
    }));
    return {
      statement: sendNotifications,
      values: [this.#origin, payloads, JSON.stringify(offered)],
      onRows: (rows) => {
        const isOffered = new Set(rows.map(({ offered: digest }) => digest));
        for (const [digest, notification] of offers)
          if (!isOffered.has(digest)) this.#offers.delete(notification);
      },
    };
  }

  /** Adds a notification: to an equal one of ready jobs, or unless an equal one that is due no later is there. */
  #add(notification: Notification): void {
    const { kind } = notification;
    const key = subjectOf(notification);
    const at = performance.now() + delayOf(notification);
    const earlier = this.#pending.get(key);
    if (kind === 'ready' && earlier?.notification.kind === 'ready')
      this.#pending.set(key, { notification: bothReady(earlier.notification, notification), at });
    else if (at < (earlier?.at ?? Infinity)) this.#pending.set(key, { notification, at });
  }

  /** Returns whether other processes must be notified, given whether a server of this process takes care of the work. */
  #isForOthers(notification: Notification, isDone: boolean): boolean {
    if (isDone) this.#keep(notification);
    return !isDone && delayOf(notification) <= dueHorizonMs;
  }

  #keep(notification: Notification): void {
    const at = performance.now() + delayOf(notification);
    const key = subjectOf(notification);
    const kept = this.#kept.get(key);
    const [first, last] = kept === undefined ? [at, at] : [Math.min(kept.first, at), Math.max(kept.last, at)];
    const named = notification.kind === 'ready' ? readyIn(notification.queue) : notification;
    this.#kept.set(key, { notification: named, first, last });
  }

  /**
   * Notifies other processes of what the last server of this process, which is stopping, may not have done. Others look
   * at the latest after `dueHorizonMs`, so older notifications are of no use.
   */
  #passOn(): void {
    const now = performance.now();
    for (const { notification, first, last } of this.#kept.values()) {
      if (last < now - dueHorizonMs || first > now + dueHorizonMs) continue;
      this.#add('inMs' in notification ? { ...notification, inMs: Math.max(0, first - now) } : notification);
    }
    this.#kept.clear();
    if (this.#pending.size > 0) this.#sendSoon();
  }

  #notifyOthers(notification: Notification): void {
    this.#add(notification);
    this.#sendSoon();
  }

  #sendSoon(): void {
    if (this.#sendTimer !== undefined || this.#closed) return;
    const waitMs = Math.max(0, this.#sentAt + debounceMs - performance.now());
    if (waitMs === 0) this.#send();
    else this.#sendTimer = setTimeout(() => this.#send(), waitMs);
  }

  #receive(payload: string): void {
    const origin = payload.slice(0, this.#origin.length);
    const subject = readPayload(payload.slice(this.#origin.length + 1), this.#queues);
    if (subject === undefined) return;
    if (subject.kind === 'offer') return this.#receiveOffer(subject);
    if (subject.kind === 'commit') return this.#receiveCommit(subject.did);
    if (subject.kind === 'pulse' || origin === this.#origin) return; // only a test, or already delivered locally
    this.notifyLocally(subject);
  }

  /** Also makes servers poll, because a poll finds out whether there was such a commit, see {@link callersCommit}. */
  #receiveCommit(did: Notification['kind']): void {
    this.notifyLocally({ kind: 'enqueued' });
    if (did === 'ready') return;
    const isTimed = did === 'due' || did === 'recurring' || did === 'pause';
    this.notifyLocally(isTimed ? { kind: did, inMs: 0 } : { kind: did });
  }

  /**
   * Makes the servers of this process poll often for a few seconds, because a caller's transaction has committed. Called for
   * what such transactions leave in the database, not for notifications of them, because anyone could send these.
   */
  callersCommit(): void {
    const wasComplete = this.isComplete;
    this.#commitsUntil = performance.now() + othersCommitMs;
    if (wasComplete) this.notifyLocally({ kind: 'listening', inMs: soonMs });
  }

  /** Notifies this process if jobs are offered to one of its servers, and all others if it cannot run them now. */
  #receiveOffer({ queue, jobs, serverId }: Offer): void {
    if (!this.#servers.has(serverId)) return;
    if (!this.notifyLocally({ kind: 'ready', queue, jobs })) this.#notifyOthers(readyIn(queue));
  }
}

interface Sending extends Query {
  readonly onRows: (rows: readonly SentRow[]) => void;
}

/** Returns what notifications with the same content have in common. */
function subjectOf(notification: Notification): string {
  return notification.kind === 'ready' ? `ready ${notification.queue}` : notification.kind;
}

interface Pending {
  readonly notification: Notification;
  /** When it is due, as measured by `performance.now()`. */
  readonly at: number;
}

/** The notifications of one subject. */
interface Kept {
  readonly notification: Notification;
  /** When the first and the last of them are due, as measured by `performance.now()`. */
  readonly first: number;
  readonly last: number;
}
