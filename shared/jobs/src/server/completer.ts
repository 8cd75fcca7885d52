import type { Claim, Completion } from '../job/job.js';
import type { Completions } from '../storage/completions.js';
import type { Logger } from './logger.js';

/** More than this goes in several writes. */
const maxBatch = 1_000;

/** Two writes under way keep the storage busy while the next batch gathers; more would only make batches smaller. */
const maxWrites = 2;

/**
 * Writes outcomes in fenced batches. A batch gathers while earlier ones are under way, so an idle server writes at
 * once and a busy one in large batches. An outcome is kept until the storage has taken it.
 */
export class Completer {
  readonly #completions: Completions;
  readonly #logger: Logger;
  readonly #onDependenciesChanged: () => void;
  readonly #writing = new Set<Promise<void>>();
  #gathered: Completion[] = [];
  readonly #pending = new Set<Completion>();
  #retryMs = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #waiters: (() => void)[] = [];

  /** @param onLinked called when outcomes have been written of jobs on which others may depend */
  constructor(completions: Completions, logger: Logger, onLinked: () => void) {
    this.#completions = completions;
    this.#logger = logger;
    this.#onDependenciesChanged = onLinked;
  }

  /** Claims whose outcome is not written yet; their leases must go on being renewed. */
  get claims(): Claim[] {
    return [...this.#pending].map(({ claim }) => claim);
  }

  add(completion: Completion): void {
    this.#gathered.push(completion);
    this.#pending.add(completion);
    if (this.#gathered.length === 1) setImmediate(() => this.#write());
  }

  /** Resolves when every outcome has been written. */
  async drained(): Promise<void> {
    if (this.#pending.size === 0) return;
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Forgets what could not be written; for a server that gives up. Its claims will be rescued. */
  abandon(): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#gathered = [];
    this.#pending.clear();
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
      if (batch.some(({ hasMeta = false }) => hasMeta)) this.#onDependenciesChanged();
      for (const completion of batch) this.#pending.delete(completion);
      for (const claim of stale) {
        this.#logger.warn(
          { claim },
          'the claim was lost before its outcome could be written; nothing was changed',
        );
      }
      this.#wakeWaiters();
    } catch (error) {
      const wanted = batch.filter((completion) => this.#pending.has(completion));
      if (wanted.length === 0) return; // abandoned meanwhile
      this.#gathered = [...wanted, ...this.#gathered];
      this.#retryMs = Math.min(Math.max(100, this.#retryMs * 2), 5_000);
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
    if (this.#pending.size > 0) return;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
