import { newId } from '../job/id.js';
import type { Clock } from '../storage/clock.js';
import type { Deployment, Deployments, NewDeployment } from '../storage/deployments.js';
import type { TransactionClient } from '../storage/transaction.js';
import { refuseTransaction } from './refuse-transaction.js';

const maxDeployments = 1_000;

/** Records deployments in memory. */
export class MemoryDeployments implements Deployments {
  readonly #clock: Clock;
  /** Newest first. */
  #deployments: Deployment[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async record(deployment: NewDeployment, transaction?: TransactionClient): Promise<Deployment> {
    refuseTransaction(transaction);
    return this.#add(deployment, 'api');
  }

  /**
   * Records a deployment when a server registers with a version that neither a running server nor the latest deployment has.
   */
  noteServer(version: string, running: ReadonlySet<string>): void {
    if (!running.has(version) && this.#deployments[0]?.version !== version) this.#add({ version }, 'server');
  }

  async find(id: string): Promise<Deployment | null> {
    return this.#deployments.find((deployment) => deployment.id === id) ?? null;
  }

  async list(span?: { readonly from: Date; readonly until: Date }): Promise<Deployment[]> {
    return this.#deployments.filter(({ at }) => span === undefined || (at >= span.from && at < span.until));
  }

  async delete(id: string): Promise<boolean> {
    const before = this.#deployments.length;
    this.#deployments = this.#deployments.filter((deployment) => deployment.id !== id);
    return this.#deployments.length < before;
  }

  #add({ version, at, note = null }: NewDeployment, source: Deployment['source']): Deployment {
    const added = { id: newId(), version, at: at ?? new Date(this.#clock.now()), note, source };
    this.#deployments = [added, ...this.#deployments]
      .toSorted((one, other) => other.at.getTime() - one.at.getTime())
      .slice(0, maxDeployments);
    return added;
  }
}
