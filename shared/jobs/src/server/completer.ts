import type { Completion } from '../job/job.js';
import type { Completions } from '../storage/claims.js';
import type { Holdings } from './holdings.js';
import type { Logger } from './logger.js';
import { outageOf } from './storage-outage.js';

/** Maximum number of outcomes in one write. */
const maxBatch = 1_000;

/**
 * Maximum number of concurrent writes. With two, the storage stays busy while the next batch fills up. More writes
 * would only make batches smaller.
 */
const maxWrites = 2;

/**
 * Writes outcomes in batches. The next batch fills up while earlier ones are being written. An idle server therefore
 * writes immediately, and a busy server writes large batches. Outcomes stay in memory until they have been written. The
 * storage ignores the outcome of an attempt that has lost its lease.
 */
export class Completer {
  readonly #completions: Completions;
  /** Those that are not stored yet, in {@link Holdings}. */
  readonly #unwritten: Set<Completion>;
  readonly #logger: Logger;
  readonly #onDependenciesChanged: () => void;
  readonly #writing = new Set<Promise<void>>();
  #gathered: Completion[] = [];
  #retryMs = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #waiters: (() => void)[] = [];

  /** @param onDependenciesChanged called after a write that can affect dependents, batches or blocked jobs */
  constructor(
    completions: Completions,
    { unwritten }: Pick<Holdings, 'unwritten'>,
    logger: Logger,
    onDependenciesChanged: () => void,
  ) {
    this.#unwritten = unwritten;
    this.#completions = completions;
    this.#logger = logger;
    this.#onDependenciesChanged = onDependenciesChanged;
  }

  add(completion: Completion): void {
    this.#gathered.push(completion);
    this.#unwritten.add(completion);
    if (this.#gathered.length === 1) setImmediate(() => this.#write());
  }

  /** Resolves when no outcome is left to write: all have been written, or `abandon` has dropped them. */
  async drained(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /**
   * Drops all unwritten outcomes. Called when the server is stopping or was declared dead. The rescuer reclaims these
   * jobs.
   */
  abandon(): void {
    outageOf(this.#logger).gaveUp(this);
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#gathered = [];
    this.#unwritten.clear();
    this.#wakeWaiters();
  }

  #write(): void {
    while (this.#gathered.length > 0 && this.#writing.size < maxWrites && this.#retryTimer === undefined) {
      const batch = this.#gathered.splice(0, maxBatch);
      const write = this.#writeBatch(batch).finally(() => {
        this.#writing.delete(write);
        this.#write();
      });
      this.#writing.add(write);
    }
  }

  async #writeBatch(batch: readonly Completion[]): Promise<void> {
    try {
      const stale = await this.#completions.complete(batch);
      this.#retryMs = 0;
      outageOf(this.#logger).succeeded(this);
      if (batch.some(({ hasMeta = false }) => hasMeta)) this.#onDependenciesChanged();
      for (const completion of batch) this.#unwritten.delete(completion);
      for (const claim of stale) {
        this.#logger.warn(
          { claim },
          'the lease was lost before the outcome could be written; nothing was changed',
        );
      }
      this.#wakeWaiters();
    } catch (error) {
      const wanted = batch.filter((completion) => this.#unwritten.has(completion));
      if (wanted.length === 0) return; // `abandon` was called during the write
      this.#gathered = [...wanted, ...this.#gathered];
      this.#retryMs = Math.min(Math.max(100, this.#retryMs * 2), 5_000);
      if (!outageOf(this.#logger).failed(this, error))
        this.#logger.warn(
          { err: error, outcomes: wanted.length, retryInMs: this.#retryMs },
          'writing outcomes: failed',
        );
      this.#retryTimer ??= setTimeout(() => {
        this.#retryTimer = undefined;
        this.#write();
      }, this.#retryMs);
    }
  }

  #wakeWaiters(): void {
    if (this.#unwritten.size > 0) return;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
