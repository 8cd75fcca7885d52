import type { ClaimedJob } from '../job/job.js';
import type { LocalServer, SlotReservation } from '../storage/enqueuer.js';
import type { Fetcher } from './fetcher.js';
import type { Holdings } from './holdings.js';
import type { Runner } from './runner.js';
import type { ResolvedServerOptions } from './server-options.js';

type DirectStartOption = 'queues' | 'concurrency' | 'slidingInvisibilityTimeoutMs';

export interface DirectStartsOptions extends Pick<ResolvedServerOptions, DirectStartOption> {
  readonly holdings: Holdings;
  readonly runner: Pick<Runner, 'handles' | 'take'>;
  readonly fetcher: Pick<Fetcher, 'isIdle' | 'isStopped' | 'uncertain'>;
}

/**
 * Starts jobs on this server as soon as this process enqueues them, while the server is idle. The insert already
 * contains the lease, so no notification and no claim are needed.
 */
export class DirectStarts implements LocalServer {
  readonly #options: DirectStartsOptions;

  constructor(options: DirectStartsOptions) {
    this.#options = options;
  }

  reserve(queue: string, name: string, jobIds: readonly string[]): SlotReservation | null {
    const { queues, concurrency, holdings, runner, fetcher, slidingInvisibilityTimeoutMs } = this.#options;
    const { serverId, reserved } = holdings;
    if (serverId === null || !queues.names.includes(queue) || !runner.handles(name) || !fetcher.isIdle)
      return null;
    if (holdings.taken + jobIds.length > concurrency) return null;
    for (const jobId of jobIds) reserved.set(jobId, { jobId, queue, serverId, attempt: 1 });
    const release = (): void => {
      for (const jobId of jobIds) reserved.delete(jobId);
    };
    return {
      serverId,
      leaseMs: slidingInvisibilityTimeoutMs,
      start: (jobs) => {
        release();
        // If the server has been declared dead since the reservation, the leases are lost.
        if (holdings.serverId === serverId) this.#take(jobs);
      },
      release,
      fail: () => {
        release();
        fetcher.uncertain(queue);
      },
    };
  }

  /** Releases the jobs if the server has become quiet since the reservation. */
  #take(jobs: readonly ClaimedJob[]): void {
    const { holdings, runner, fetcher } = this.#options;
    if (fetcher.isStopped) void holdings.release(jobs.map(({ claim }) => claim));
    else runner.take(jobs);
  }
}
