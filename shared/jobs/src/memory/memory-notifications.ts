import type { Notification, NotificationListener } from '../storage/notification.js';

/** Tells servers in this process that there is work. */
export class MemoryNotifications {
  readonly #listeners = new Set<NotificationListener>();

  /** Returns a function that removes the listener. */
  subscribe(listener: NotificationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notifies the servers; of nothing if there is nothing to do. */
  notify(notification: Notification | undefined): void {
    if (notification !== undefined) for (const listener of this.#listeners) listener(notification);
  }
}
