import type { Clock } from '../job/clock.js';
import { IdSource } from '../job/id.js';
import { checkPause, type PauseOptions } from '../job/pause.js';
import {
  advanceIncidents,
  type Incident,
  type IncidentOptions,
  type IncidentQuery,
  type Incidents,
  incidentsKeptMs,
  maxIncidents,
  type MuteOptions,
  type ObservedWarning,
  storableWarning,
} from '../storage/incidents.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { MemoryAlerts } from './memory-alerts.js';
import type { MemoryAuditLog } from './memory-audit.js';
import { refuseTransaction } from './refuse-transaction.js';

export class MemoryIncidents implements Incidents {
  readonly #clock: Clock;
  readonly #audit: MemoryAuditLog;
  readonly #alerts: MemoryAlerts;
  readonly #ids: IdSource;
  /** Oldest first. */
  readonly #incidents = new Map<string, Incident>();
  #turnTakenAt = -Infinity;

  constructor(clock: Clock, audit: MemoryAuditLog, alerts: MemoryAlerts) {
    this.#clock = clock;
    this.#ids = new IdSource(clock);
    this.#audit = audit;
    this.#alerts = alerts;
  }

  async reserveCheck(everyMs: number): Promise<boolean> {
    const now = this.#clock.now();
    // A turn in the future was taken before the clock was set back.
    if (this.#turnTakenAt <= now && now - this.#turnTakenAt < everyMs) return false;
    this.#turnTakenAt = now;
    return true;
  }

  async observe(warnings: readonly ObservedWarning[]): Promise<void> {
    const now = new Date(this.#clock.now());
    const stored = [...this.#incidents.values()];
    const { changed, messages, reopened } = advanceIncidents(stored, warnings.map(storableWarning), now, () =>
      this.#ids.newId(),
    );
    for (const incident of changed) this.#incidents.set(incident.id, incident);
    this.#removeOld(now);
    this.#alerts.update(messages, reopened);
  }

  #removeOld(now: Date): void {
    const ended = [...this.#incidents.values()].filter(({ endedAt }) => endedAt !== null);
    const excess = ended.length - maxIncidents;
    for (const [index, { id, endedAt }] of ended.entries())
      if (index < excess || now.getTime() - (endedAt?.getTime() ?? 0) > incidentsKeptMs)
        this.#incidents.delete(id);
  }

  async list({ isActive, limit, after }: IncidentQuery): Promise<Incident[]> {
    return [...this.#incidents.values()]
      .filter(({ id, endedAt }) => {
        const isWanted = isActive === undefined || isActive === (endedAt === null);
        return isWanted && (after === undefined || id < after);
      })
      .toSorted((one, other) => (one.id < other.id ? 1 : -1))
      .slice(0, limit);
  }

  async find(id: string, transaction?: TransactionClient): Promise<Incident | null> {
    refuseTransaction(transaction);
    return this.#incidents.get(id) ?? null;
  }

  async acknowledge(
    id: string,
    options: Pick<PauseOptions, 'by' | 'reason'>,
    control?: IncidentOptions,
  ): Promise<Incident | null> {
    const { by, reason } = checkPause(options, this.#clock.now());
    const acknowledgedAt = new Date(this.#clock.now());
    return this.#change(id, control, ({ id: of }) => of === id, {
      acknowledgedAt,
      acknowledgedBy: by,
      acknowledgeReason: reason,
    });
  }

  async mute(id: string, mute: MuteOptions | null, options?: IncidentOptions): Promise<Incident | null> {
    const { until, by, reason } = checkPause(mute ?? {}, this.#clock.now());
    const change = { mutedUntil: until, mutedBy: by, muteReason: reason };
    return this.#change(id, options, ({ key }, before) => key === before.key, change);
  }

  /** @param isChanged whether an incident is changed, given the one with the id */
  #change(
    id: string,
    options: IncidentOptions = {},
    isChanged: (incident: Incident, before: Incident) => boolean,
    change: Partial<Incident>,
  ): Incident | null {
    refuseTransaction(options.transaction);
    const before = this.#incidents.get(id) ?? null;
    if (before !== null) options.check?.(before);
    this.#audit.addOf(options, before);
    if (before !== null)
      for (const incident of this.#incidents.values())
        if (isChanged(incident, before)) this.#incidents.set(incident.id, { ...incident, ...change });
    return before;
  }
}
