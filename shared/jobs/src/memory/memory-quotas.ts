import type { Clock } from '../job/clock.js';
import type { Deployments } from '../storage/deployments.js';
import {
  admissionMs,
  checkQuota,
  type CreatedKind,
  type QuotaLimits,
  type Quotas,
} from '../storage/quotas.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemoryRecurringJobs } from './memory-recurring.js';
import type { MemoryServers } from './memory-servers.js';

interface Creation {
  readonly kind: CreatedKind;
  readonly item: string;
  readonly creator: string;
  readonly admittedAt: number;
}

interface MemoryQuotasParts {
  readonly jobs: MemoryJobs;
  readonly recurring: MemoryRecurringJobs;
  readonly deployments: Pick<Deployments, 'list'>;
  readonly servers: MemoryServers;
  readonly clock: Clock;
}

/** Counts what callers have created. */
export class MemoryQuotas implements Quotas {
  readonly #parts: MemoryQuotasParts;
  #creations: Creation[] = [];

  constructor(parts: MemoryQuotasParts) {
    this.#parts = parts;
  }

  async admit(
    kind: CreatedKind,
    items: readonly string[],
    caller: string,
    limits: QuotaLimits,
  ): Promise<void> {
    const { servers, clock } = this.#parts;
    const existing = new Set(await this.#existing(kind));
    const served = new Set(kind === 'queue' ? (await servers.list()).flatMap(({ queues }) => queues) : []);
    const now = clock.now();
    this.#creations = this.#creations.filter(
      (one) => one.kind !== kind || existing.has(one.item) || now - one.admittedAt < admissionMs,
    );
    const counted = this.#creations.filter((one) => one.kind === kind && !served.has(one.item));
    const coming = [...new Set(items)].filter(
      (item) => !existing.has(item) && !counted.some((one) => one.item === item),
    );
    const byCaller = counted.filter(({ creator }) => creator === caller).length;
    checkQuota(kind, coming, { byCaller, total: counted.length }, limits);
    for (const item of coming) this.#creations.push({ kind, item, creator: caller, admittedAt: now });
  }

  async #existing(kind: CreatedKind): Promise<Iterable<string>> {
    const { jobs, recurring, deployments } = this.#parts;
    if (kind === 'queue') return jobs.queues.keys();
    return (kind === 'deployment' ? await deployments.list() : recurring.all).map(({ id }) => id);
  }

  async defineQueues(queues: readonly string[]): Promise<void> {
    for (const queue of queues) this.#parts.jobs.queue(queue);
    this.#creations = this.#creations.filter(({ kind, item }) => kind !== 'queue' || !queues.includes(item));
  }
}
