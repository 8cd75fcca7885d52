/**
 * What happened, so that only those loops of a server run that have something to do:
 *
 * - `ready`: jobs of a queue may have become ready, see {@link ReadyJobs}
 * - `due`: a scheduled job is due in `inMs`
 * - `recurring`: a recurring job is due in `inMs`
 * - `pause`: a pause ends in `inMs`
 * - `outbox`: dependents, batches or blocked jobs may have to be updated
 * - `bulk`: there is a bulk operation
 * - `cancel`: the cancellation of running jobs was requested
 *
 * Times are in milliseconds from now; 0 if the time is past or not known.
 */
export type Notification =
  | ReadyJobs
  | { readonly kind: 'due' | 'recurring' | 'pause'; readonly inMs: number }
  | { readonly kind: 'outbox' | 'bulk' | 'cancel' };

/**
 * What the servers of a process are notified of. In addition to what happened:
 *
 * - `enqueued`: jobs of any queue may have become ready
 * - `listening`: notifications have begun or ceased to arrive, so everything is to be looked at within `inMs`
 */
export type LocalNotification =
  Notification | { readonly kind: 'enqueued' } | { readonly kind: 'listening'; readonly inMs: number };

/** Jobs that have become ready. If they are known and few, one server can run them, and others need not be notified. */
export interface ReadyJobs {
  readonly kind: 'ready';
  readonly queue: string;
  /** How many they are. Missing if they are unknown or many. */
  readonly jobs?: number;
  /** The names of the jobs. Missing if the listener is known to handle them. */
  readonly names?: readonly string[];
  readonly ids?: readonly string[];
}

/** How many jobs are few: so many can be left to one server, although others are idle. */
export const maxFew = 8;

/**
 * Returns `true` if the listener's server does all that the notification asks for, so that no other server needs to be
 * notified.
 */
export type NotificationListener = (notification: LocalNotification) => boolean;

/** Every server looks for due times at least this often, in milliseconds. Later times need no notification. */
export const dueHorizonMs = 15_000;

/** Returns the notification that jobs of a queue are ready. */
export const readyIn = (queue: string): ReadyJobs => ({ kind: 'ready', queue });

/** Returns the notification that these jobs of a queue are ready. */
export function readyJobs(
  queue: string,
  jobs: readonly { readonly id: string; readonly name: string }[],
): ReadyJobs {
  if (jobs.length === 0 || jobs.length > maxFew) return readyIn(queue);
  const names = [...new Set(jobs.map(({ name }) => name))];
  return { kind: 'ready', queue, jobs: jobs.length, names, ids: jobs.map(({ id }) => id) };
}

/** Combines two notifications of ready jobs of one queue. */
export function bothReady(one: ReadyJobs, other: ReadyJobs): ReadyJobs {
  const { queue, names, ids } = one;
  if (names === undefined || ids === undefined || other.names === undefined || other.ids === undefined)
    return readyIn(queue);
  const all = [...new Set([...ids, ...other.ids])];
  if (all.length > maxFew) return readyIn(queue);
  return {
    kind: 'ready',
    queue,
    jobs: all.length,
    names: [...new Set([...names, ...other.names])],
    ids: all,
  };
}

export const outbox: Notification = { kind: 'outbox' };

/** Returns the notification of a due time, which `nowMs` is compared with. Without a time, there is nothing to notify of. */
export function dueAt(
  kind: 'due' | 'recurring' | 'pause',
  time: Date | null,
  nowMs: number,
): Notification | undefined {
  return time === null ? undefined : { kind, inMs: Math.max(0, time.getTime() - nowMs) };
}

/** Returns the time until something must happen, in milliseconds; 0 if it can happen now. */
export function delayOf(notification: LocalNotification): number {
  return 'inMs' in notification ? notification.inMs : 0;
}

/** Minimum delay in milliseconds. Timers are not precise enough for shorter delays. */
const minPauseMs = 5;

/**
 * Schedules notifications for queues whose rate limit is exhausted, so that servers poll these queues again as soon as
 * the limit allows. Each queue has at most one timer. The timer fires at the earliest requested time.
 */
export class QueuePollTimers {
  readonly #notify: (queue: string) => void;
  readonly #timers = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();

  constructor(notify: (queue: string) => void) {
    this.#notify = notify;
  }

  set(queue: string, afterMs: number): void {
    const pauseMs = Math.max(minPauseMs, Math.ceil(afterMs));
    const at = performance.now() + pauseMs;
    const earlier = this.#timers.get(queue);
    if (earlier !== undefined && earlier.at <= at) return;
    clearTimeout(earlier?.timer);
    const timer = setTimeout(() => {
      this.#timers.delete(queue);
      this.#notify(queue);
    }, pauseMs).unref();
    this.#timers.set(queue, { at, timer });
  }

  close(): void {
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
