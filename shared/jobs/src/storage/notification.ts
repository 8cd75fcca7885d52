/**
 * What happened, so that only those loops of a server run that have something to do:
 *
 * - `ready`: jobs of a queue may have become ready
 * - `due`: a scheduled job is due in `inMs`
 * - `recurring`: a recurring job is due in `inMs`
 * - `pause`: a pause ends in `inMs`
 * - `outbox`: dependents, batches or blocked jobs may have to be updated
 * - `bulk`: there is a bulk operation
 * - `cancel`: the cancellation of running jobs was requested
 * - `any`: something of which nothing else is known, or notifications have begun or ceased to arrive
 *
 * Times are in milliseconds from now; 0 if the time is past or not known.
 */
export type Notification =
  | { readonly kind: 'ready'; readonly queue: string; readonly jobs?: number }
  | { readonly kind: 'due' | 'recurring' | 'pause'; readonly inMs: number }
  | { readonly kind: 'outbox' | 'bulk' | 'cancel' | 'any' };

/**
 * Returns `true` if the listener's server does all that the notification asks for, so that no other server needs to be
 * notified.
 */
export type NotificationListener = (notification: Notification) => boolean;

/** Every server looks for due times at least this often, in milliseconds. Later times need no notification. */
export const dueHorizonMs = 15_000;

/** Returns the notification that jobs of a queue are ready. */
export const readyIn = (queue: string): Notification => ({ kind: 'ready', queue });

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
export function delayOf(notification: Notification): number {
  return 'inMs' in notification ? notification.inMs : 0;
}
