import type { Clock } from '../job/clock.js';
import { automaticActor, automaticFilter } from '../job/pause.js';
import { type Installation, type InstallationState, pauseCopyAction } from '../storage/installation.js';
import type { ControlOptions } from '../storage/job-control.js';
import type { MemoryAlerts } from './memory-alerts.js';
import type { MemoryAuditLog } from './memory-audit.js';
import { refuseTransaction } from './refuse-transaction.js';

/** As that of a Postgres storage in the default schema, so that programs need not tell them apart. */
const name = 'longshore';

export class MemoryInstallation implements Installation {
  readonly #clock: Clock;
  readonly #audit: MemoryAuditLog;
  readonly #alerts: MemoryAlerts;
  #pausedAt: Date | null = null;
  #wasResumed = false;

  constructor(clock: Clock, audit: MemoryAuditLog, alerts: MemoryAlerts) {
    this.#clock = clock;
    this.#audit = audit;
    this.#alerts = alerts;
  }

  async read(): Promise<InstallationState> {
    return { name, pausedAt: this.#pausedAt };
  }

  async pauseCopy(): Promise<InstallationState> {
    if (this.#pausedAt === null && !this.#wasResumed) {
      this.#audit.add({
        who: automaticActor,
        action: pauseCopyAction,
        target: name,
        count: 1,
        filter: automaticFilter,
      });
      this.#alerts.clear();
      this.#pausedAt = new Date(this.#clock.now());
    }
    return this.read();
  }

  async resume(
    target: string,
    options: ControlOptions<InstallationState, InstallationState | null> = {},
  ): Promise<InstallationState | null> {
    refuseTransaction(options.transaction);
    const before = target === name ? await this.read() : null;
    if (before !== null) options.check?.(before);
    this.#audit.addOf(options, before);
    if (before !== null) {
      this.#pausedAt = null;
      this.#wasResumed = true;
    }
    return before;
  }
}
