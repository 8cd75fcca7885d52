import { newId } from '../job/id.js';
import type { Clock } from '../job/clock.js';
import {
  checkDeployment,
  type Deployment,
  type Deployments,
  type NewDeployment,
} from '../storage/deployments.js';
import type { ActionOptions } from '../storage/audit-log.js';
import type { ControlOptions } from '../storage/job-control.js';
import type { MemoryAuditLog } from './memory-audit.js';
import { refuseTransaction } from './refuse-transaction.js';

const maxDeployments = 1_000;
const maxVersions = 10_000;

export class MemoryDeployments implements Deployments {
  readonly #clock: Clock;
  readonly #audit: MemoryAuditLog;
  /** Newest first. */
  #deployments: Deployment[] = [];
  /** The versions of servers by their ids, in the order in which the servers registered. */
  readonly #versions = new Map<string, string>();

  constructor(clock: Clock, audit: MemoryAuditLog) {
    this.#audit = audit;
    this.#clock = clock;
  }

  async record(deployment: NewDeployment, options: ActionOptions<Deployment> = {}): Promise<Deployment> {
    refuseTransaction(options.transaction);
    const recorded = this.#add(checkDeployment(deployment), 'api');
    this.#audit.addOf(options, recorded);
    return recorded;
  }

  /**
   * Records the version of a server that registers. Also records a deployment if the version is new: no running server
   * has it, and the latest deployment has a different one. Future deployments do not count as the latest.
   */
  noteServer(serverId: string, version: string, running: ReadonlySet<string>): void {
    this.#versions.set(serverId, version);
    for (const oldest of this.#versions.keys()) {
      if (this.#versions.size <= maxVersions) break;
      this.#versions.delete(oldest);
    }
    const latest = this.#deployments.find(({ at }) => at.getTime() <= this.#clock.now());
    if (!running.has(version) && latest?.version !== version) this.#add({ version }, 'server');
  }

  async find(id: string): Promise<Deployment | null> {
    return this.#deployments.find((deployment) => deployment.id === id) ?? null;
  }

  async list(span?: { readonly from: Date; readonly until: Date }): Promise<Deployment[]> {
    return this.#deployments.filter(({ at }) => span === undefined || (at >= span.from && at < span.until));
  }

  async versionsOf(serverIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const known = serverIds.flatMap((id) => {
      const version = this.#versions.get(id);
      return version === undefined ? [] : ([[id, version]] as const);
    });
    return new Map(known);
  }

  async delete(id: string, options: ControlOptions<Deployment, boolean> = {}): Promise<boolean> {
    refuseTransaction(options.transaction);
    const deleted = await this.find(id);
    if (deleted !== null) options.check?.(deleted);
    this.#audit.addOf(options, deleted !== null);
    this.#deployments = this.#deployments.filter((deployment) => deployment !== deleted);
    return deleted !== null;
  }

  #add({ id = newId(), version, at, note = null }: NewDeployment, source: Deployment['source']): Deployment {
    const added = { id, version, at: at ?? new Date(this.#clock.now()), note, source };
    this.#deployments = [added, ...this.#deployments]
      .toSorted((one, other) => other.at.getTime() - one.at.getTime())
      .slice(0, maxDeployments);
    return added;
  }
}
