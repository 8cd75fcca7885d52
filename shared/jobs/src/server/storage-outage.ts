import { StorageUnavailableError } from '../job/errors.js';
import type { Logger } from './logger.js';

/** How often an outage that lasts is logged, in milliseconds. */
const repeatMs = 60_000;

/** What uses the storage: a loop, or anything else that tries again after an error. Compared by identity. */
type User = object;

/**
 * Logs that the storage is unavailable: once when an outage begins, then once a minute, and when it has ended. Without
 * it, each loop of each server would log each of its attempts.
 *
 * An outage ends when everyone that it affected has succeeded or given up. If it affected nobody who tries again, it ends
 * when anyone succeeds.
 */
export class StorageOutage {
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #affected = new Set<User>();
  #since: number | undefined;
  #loggedAt = 0;

  /** @param now returns the time in milliseconds; by default, by the clock of the process */
  constructor(logger: Logger, now: () => number = Date.now) {
    this.#logger = logger;
    this.#now = now;
  }

  /**
   * Notes an error. Returns `false` if it is not about the storage being unavailable; the caller must then log it.
   *
   * @param user `null` if whatever failed is not tried again
   */
  failed(user: User | null, error: unknown): boolean {
    if (!(error instanceof StorageUnavailableError)) return false;
    const now = this.#now();
    const isNew = this.#since === undefined;
    const since = (this.#since ??= now);
    if (user !== null) this.#affected.add(user);
    if (!isNew && now - this.#loggedAt < repeatMs) return true;
    this.#loggedAt = now;
    const message = isNew
      ? 'the storage is unavailable; trying again until it is back'
      : 'the storage is still unavailable';
    this.#logger.warn({ since: new Date(since), reason: reasonOf(error) }, message);
    return true;
  }

  /** Notes that someone has used the storage successfully. */
  succeeded(user: User): void {
    const since = this.#since;
    this.#affected.delete(user);
    if (since === undefined || this.#affected.size > 0) return;
    this.#since = undefined;
    this.#logger.info(
      { since: new Date(since), forMs: this.#now() - since },
      'the storage is available again',
    );
  }

  /** Notes that someone no longer tries to use the storage. */
  gaveUp(user: User): void {
    if (this.#affected.delete(user) && this.#affected.size === 0) this.#since = undefined;
  }
}

/** Returns why the storage is unavailable, with the cause, such as a refused connection. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
}

const outages = new WeakMap<Logger, StorageOutage>();

/** Returns the outage that everyone with this logger reports to, such as all servers and services of a process. */
export function outageOf(logger: Logger): StorageOutage {
  const outage = outages.get(logger) ?? new StorageOutage(logger);
  outages.set(logger, outage);
  return outage;
}

/** Makes everyone with a logger that wraps another one report to the outage of the wrapped one. */
export function withOutageOf(wrapped: Logger, logger: Logger): Logger {
  outages.set(logger, outageOf(wrapped));
  return logger;
}

/** Warns of a failure of something that is not tried again, unless the storage is unavailable, which is logged otherwise. */
export function warnOf(logger: Logger, error: unknown, fields: object, message: string): void {
  if (!outageOf(logger).failed(null, error)) logger.warn({ err: error, ...fields }, message);
}
