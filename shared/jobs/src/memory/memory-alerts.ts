import { newId } from '../job/id.js';
import {
  type Alert,
  alertRetryMs,
  type AlertMessage,
  type Alerts,
  diffAlerts,
  failuresKeptMs,
  storableFailure,
  type ObservedWarning,
  storableWarning,
} from '../storage/alerts.js';
import type { Clock } from '../job/clock.js';

export class MemoryAlerts implements Alerts {
  readonly #clock: Clock;
  readonly #alerts = new Map<string, Alert>();
  /** Undelivered messages, oldest first. */
  readonly #messages = new Map<string, AlertMessage>();
  #turnTakenAt = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async reserveCheck(everyMs: number): Promise<boolean> {
    const now = this.#clock.now();
    if (now - this.#turnTakenAt < everyMs) return false;
    this.#turnTakenAt = now;
    return true;
  }

  async observe(warnings: readonly ObservedWarning[], targets: readonly string[]): Promise<void> {
    const now = new Date(this.#clock.now());
    const { begun, seen, ended, messages } = diffAlerts(
      [...this.#alerts.values()],
      warnings.map(storableWarning),
      now,
    );
    for (const alert of [...begun, ...seen]) this.#alerts.set(alert.key, alert);
    for (const { key } of ended) this.#alerts.delete(key);
    for (const [key, { createdAt }] of this.#messages)
      if (now.getTime() - createdAt.getTime() > failuresKeptMs) this.#messages.delete(key);
    for (const content of messages) {
      const id = newId(now.getTime());
      for (const target of targets)
        this.#messages.set(keyOf({ id, target }), {
          id,
          target,
          content,
          attempts: 0,
          createdAt: now,
          nextAt: now,
          error: null,
        });
    }
  }

  async list(): Promise<Alert[]> {
    return [...this.#alerts.values()];
  }

  async take(targets: readonly string[], limit: number, leaseMs: number): Promise<AlertMessage[]> {
    const now = this.#clock.now();
    const due = [...this.#messages.values()]
      .filter(({ target, nextAt }) => targets.includes(target) && nextAt !== null && nextAt.getTime() <= now)
      .toSorted((one, other) => one.attempts - other.attempts)
      .slice(0, limit);
    for (const message of due)
      this.#messages.set(keyOf(message), { ...message, nextAt: new Date(now + leaseMs) });
    return due;
  }

  async delivered(message: Pick<AlertMessage, 'id' | 'target'>): Promise<void> {
    this.#messages.delete(keyOf(message));
  }

  async failed(failed: Pick<AlertMessage, 'id' | 'target'>, error: string): Promise<void> {
    const message = this.#messages.get(keyOf(failed));
    if (message === undefined) return;
    const now = this.#clock.now();
    const attempts = message.attempts + 1;
    const retryMs = alertRetryMs(attempts, now - message.createdAt.getTime());
    const nextAt = retryMs === null ? null : new Date(now + retryMs);
    this.#messages.set(keyOf(failed), { ...message, attempts, nextAt, error: storableFailure(error) });
  }

  async listFailures(limit: number): Promise<AlertMessage[]> {
    return [...this.#messages.values()]
      .filter(({ error }) => error !== null)
      .toReversed()
      .slice(0, limit);
  }
}

function keyOf({ id, target }: Pick<AlertMessage, 'id' | 'target'>): string {
  return `${id} ${target}`;
}
