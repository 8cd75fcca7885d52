import { newId } from '../job/id.js';
import {
  alertRetryMs,
  type AlertMessage,
  type Alerts,
  failuresKeptMs,
  storableFailure,
  targetsKeptMs,
} from '../storage/alerts.js';
import type { IncidentMessage } from '../storage/incidents.js';
import type { Clock } from '../job/clock.js';

export class MemoryAlerts implements Alerts {
  readonly #clock: Clock;
  /** Undelivered messages, oldest first. */
  readonly #messages = new Map<string, AlertMessage>();
  /** When each target was last registered. */
  readonly #targets = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async register(targets: readonly string[]): Promise<void> {
    for (const target of targets) this.#targets.set(target, this.#clock.now());
  }

  /**
   * Stores messages for each registered target, and removes old ones.
   *
   * @param reopened the incidents whose ends are no longer announced
   */
  update(messages: readonly IncidentMessage[], reopened: readonly string[]): void {
    const now = this.#clock.now();
    const withdrawn = new Set(reopened);
    for (const [key, { content, createdAt }] of this.#messages) {
      const isWithdrawn = content.type === 'warning.ended' && withdrawn.has(content.incident.id);
      if (isWithdrawn || now - createdAt.getTime() > failuresKeptMs) this.#messages.delete(key);
    }
    for (const [target, registeredAt] of this.#targets)
      if (now - registeredAt > targetsKeptMs) this.#targets.delete(target);
    for (const { content, dueAt, tell = [] } of messages) {
      const id = newId(now);
      const named = [...this.#targets.keys()].filter((target) => tell.includes(target));
      for (const target of named.length === 0 ? this.#targets.keys() : named)
        this.#messages.set(keyOf({ id, target }), {
          id,
          target,
          content,
          attempts: 0,
          createdAt: new Date(now),
          nextAt: dueAt,
          error: null,
        });
    }
  }

  /** Drops all messages and targets. */
  clear(): void {
    this.#messages.clear();
    this.#targets.clear();
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
