import type { Claim, ClaimedJob } from '../job/job.js';
import type { LocalServer, SlotReservation } from '../storage/local-server.js';

export interface DirectStartsOptions {
  readonly queues: readonly string[];
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly handles: (name: string) => boolean;
  /** Returns the server id for leases; `null` while the server is not registered. */
  readonly serverId: () => string | null;
  /** Returns whether the server consumes jobs and knows of none that are ready. */
  readonly isIdle: () => boolean;
  /** Returns the number of claimed jobs on this server, excluding reserved slots. */
  readonly claimedCount: () => number;
  readonly take: (jobs: readonly ClaimedJob[]) => void;
  /** Called if the storage may have leased jobs in this queue to the server without the server's knowledge. */
  readonly onUncertain: (queue: string) => void;
}

/**
 * Starts jobs on this server as soon as this process enqueues them, while the server is idle. The insert already
 * contains the lease, so no notification and no claim are needed.
 */
export class DirectStarts implements LocalServer {
  readonly #options: DirectStartsOptions;
  readonly #reserved = new Map<string, Claim>();

  constructor(options: DirectStartsOptions) {
    this.#options = options;
  }

  /** Number of slots that are reserved for jobs being inserted. */
  get reservedCount(): number {
    return this.#reserved.size;
  }

  /** The claims of the reserved slots. Each lease starts only when its job is inserted. */
  get claims(): Iterable<Claim> {
    return this.#reserved.values();
  }

  reserve(queue: string, name: string, jobIds: readonly string[]): SlotReservation | null {
    const { queues, concurrency, leaseMs, handles, isIdle, claimedCount } = this.#options;
    const serverId = this.#options.serverId();
    if (serverId === null || !queues.includes(queue) || !handles(name) || !isIdle()) return null;
    if (claimedCount() + this.#reserved.size + jobIds.length > concurrency) return null;
    for (const jobId of jobIds) this.#reserved.set(jobId, { jobId, queue, serverId, attempt: 1 });
    const release = (): void => {
      for (const jobId of jobIds) this.#reserved.delete(jobId);
    };
    return {
      serverId,
      leaseMs,
      start: (jobs) => {
        release();
        // If the server has been declared dead since the reservation, the leases are lost.
        if (this.#options.serverId() === serverId) this.#options.take(jobs);
      },
      release,
      fail: () => {
        release();
        this.#options.onUncertain(queue);
      },
    };
  }
}
