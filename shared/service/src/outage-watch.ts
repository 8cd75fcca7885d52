import { setTimeout as sleep } from 'node:timers/promises';
import { ReadTimeoutError, StorageClosedError, StorageUnavailableError } from '@longshore/jobs';
import { outageOf } from '@longshore/jobs/storage';
import type Koa from 'koa';
import type { Logger } from 'pino';

/** Time between two checks of a storage that is unavailable, in milliseconds. */
const checkEveryMs = 1_000;

/**
 * Reports outages of the storage in a service that uses it for requests, so that nothing else would try until it is back.
 * A request that is answered with 503 makes it check the storage; while a check fails, it checks again every second.
 */
export class OutageWatch {
  readonly #ping: () => Promise<unknown>;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  #isChecking = false;

  /** @param ping rejects with a {@link StorageUnavailableError} while the storage is unavailable */
  constructor(ping: () => Promise<unknown>, logger: Logger) {
    this.#ping = ping;
    this.#logger = logger;
  }

  readonly middleware: Koa.Middleware = async (context, next) => {
    try {
      await next();
    } catch (error) {
      this.covers(error);
      throw error;
    }
    if (context.status === 503) this.check();
  };

  /** Returns whether an error means that the storage may be unavailable. If so, checks it, and nothing else need be logged. */
  covers(error: unknown): boolean {
    if (!isOutage(error)) return false;
    this.check();
    return true;
  }

  /** Checks the storage, and reports an outage until it has ended. */
  check(): void {
    if (this.#isChecking || this.#stopped.signal.aborted) return;
    this.#isChecking = true;
    void this.#check();
  }

  stop(): void {
    this.#stopped.abort();
    outageOf(this.#logger).gaveUp(this);
  }

  async #check(): Promise<void> {
    const { signal } = this.#stopped;
    while (await this.#fails()) {
      await sleep(checkEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
    }
    this.#isChecking = false;
  }

  /** Returns whether the storage is unavailable. */
  async #fails(): Promise<boolean> {
    const outage = outageOf(this.#logger);
    try {
      await this.#ping();
      outage.succeeded(this);
      return false;
    } catch (error) {
      return !this.#stopped.signal.aborted && isOutage(error) && outage.failed(this, error);
    }
  }
}

function isOutage(error: unknown): boolean {
  return (
    error instanceof StorageUnavailableError &&
    !(error instanceof ReadTimeoutError) &&
    !(error instanceof StorageClosedError)
  );
}

const pauseMs = 500;

/**
 * Runs a start-up task, and repeats it while the storage cannot be reached. Containers start in any order, and the
 * database may be restarting.
 *
 * @param work the task; must be safe to repeat after failing halfway
 * @param signal prevents the next try when it aborts
 * @throws the signal's reason if the signal aborts before the task has succeeded, and every error of `work` other than a `StorageUnavailableError`
 */
export async function whenAvailable<Result>(
  work: () => Promise<Result>,
  logger: Logger,
  signal: AbortSignal,
): Promise<Result> {
  const outage = outageOf(logger);
  for (;;) {
    signal.throwIfAborted();
    try {
      const result = await work();
      outage.succeeded(work);
      return result;
    } catch (error) {
      if (!outage.failed(work, error)) throw error;
    }
    await pause(signal);
  }
}

/** @throws the signal's reason if the signal aborts */
async function pause(signal: AbortSignal): Promise<void> {
  await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
}
