import type { Job } from '../job/job.js';
import type { Clock } from '../job/clock.js';
import type { Lease, Leases, StalledLeaseQuery } from '../storage/claims.js';
import type { JobRecord } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemoryServers } from './memory-servers.js';

/** Reads the leases on running jobs. */
export class MemoryLeases implements Leases {
  readonly #jobs: MemoryJobs;
  readonly #servers: MemoryServers;
  readonly #clock: Clock;

  constructor(jobs: MemoryJobs, servers: MemoryServers, clock: Clock) {
    this.#jobs = jobs;
    this.#servers = servers;
    this.#clock = clock;
  }

  async find({ id }: Pick<Job, 'id'>): Promise<Lease | null> {
    const record = this.#jobs.find(id);
    return record === undefined ? null : leaseOn(record);
  }

  async listStalled({ expiredForMs, limit }: StalledLeaseQuery): Promise<Lease[]> {
    const before = this.#clock.now() - expiredForMs;
    return [...this.#jobs.all()]
      .flatMap((record) => leaseOn(record) ?? [])
      .filter(
        ({ serverId, expiresAt, locked }) =>
          !locked && expiresAt.getTime() < before && this.#servers.isAlive(serverId),
      )
      .toSorted((one, other) => one.expiresAt.getTime() - other.expiresAt.getTime())
      .slice(0, limit);
  }
}

function leaseOn({ state, id, queue, serverId, attempt, leaseUntil, locked }: JobRecord): Lease | null {
  if (state !== 'processing' || serverId === null) return null;
  return { jobId: id, queue, serverId, attempt, expiresAt: new Date(leaseUntil), locked };
}
