import type { Alerts } from './alerts.js';
import type { AuditLog } from './audit-log.js';
import type { Batches } from './batches.js';
import type { BulkOperations } from './bulk-operations.js';
import type { Claims, Completions, Leases } from './claims.js';
import type { Clock } from '../job/clock.js';
import type { Deployments } from './deployments.js';
import type { Enqueuer } from './enqueuer.js';
import type { Incidents } from './incidents.js';
import type { Installation } from './installation.js';
import type { JobControl, JobTypes } from './job-control.js';
import type { JobFeed } from './job-feed.js';
import type { JobReader } from './job-reader.js';
import type { JobReports } from './job-reports.js';
import type { JobStatistics } from './job-statistics.js';
import type { Maintenance } from './maintenance.js';
import type { NotificationListener } from './notification.js';
import type { PoolStatus } from './pool-status.js';
import type { Queues } from './queues.js';
import type { Quotas } from './quotas.js';
import type { ReadReplicaStatus } from './read-replica.js';
import type { RecurringJobs } from './recurring-jobs.js';
import type { SavedSearches } from './saved-searches.js';
import type { WarningRules } from './warning-rules.js';
import type { Servers } from './servers.js';
import type { SetAside } from './set-aside.js';
import type { Steps } from './steps.js';
import type { Timings } from './timings.js';
import { shown } from '../job/shown.js';

/**
 * Stores everything that Longshore keeps, such as jobs, attempts, servers and settings. Each member is responsible for
 * one area. All other parts of Longshore depend on this contract, and every implementation must pass the same
 * conformance suite.
 *
 * A method that cannot reach the storage rejects with {@link StorageUnavailableError}. The requested change has then
 * taken effect either completely or not at all, but the caller cannot tell which.
 */
export interface JobStorage {
  readonly enqueuer: Enqueuer;
  readonly jobs: JobReader;
  readonly control: JobControl;
  readonly claims: Claims;
  readonly completions: Completions;
  readonly steps: Steps;
  readonly leases: Leases;
  readonly reports: JobReports;
  readonly maintenance: Maintenance;
  readonly queues: Queues;
  readonly servers: Servers;
  readonly batches: Batches;
  readonly recurring: RecurringJobs;
  readonly bulk: BulkOperations;
  readonly feed: JobFeed;
  readonly statistics: JobStatistics;
  readonly timings: Timings;
  readonly jobTypes: JobTypes;
  readonly deployments: Deployments;
  readonly savedSearches: SavedSearches;
  readonly warningRules: WarningRules;
  readonly audit: AuditLog;
  readonly setAside: SetAside;
  readonly incidents: Incidents;
  readonly alerts: Alerts;
  readonly installation: Installation;
  readonly quotas: Quotas;
  /**
   * The storage's clock. All times of jobs and heartbeats are measured by this clock. Reading it takes no query,
   * because this process estimates the time. After `open`, the estimate is accurate to a few milliseconds, even if this
   * machine's clock is wrong.
   */
  readonly clock: Clock;
  /** Returns the exact time of the storage's clock instead of an estimate. May take a query. */
  readClock(): Promise<Date>;
  /** Checks that the storage responds and accepts changes; rejects if it does not. */
  ping(): Promise<void>;
  /** Returns the connection pools of this process. Takes no query. Empty for a storage without connections. */
  pools(): PoolStatus[];
  /** Returns the state of the read replica for searches; `null` if the storage has none. */
  readReplica(): Promise<ReadReplicaStatus | null>;
  /**
   * Prepares the storage: connects and runs migrations. Safe to call from any number of processes concurrently, and
   * again, also after it has failed.
   *
   * @throws {StorageClosedError} if the storage was closed
   */
  open(): Promise<void>;
  /**
   * Waits for pending operations, then closes every connection and timer. Further calls return the same promise. All
   * other methods then reject with {@link StorageClosedError}; those of the memory storage that only read may go on.
   */
  close(): Promise<void>;
  /**
   * Whether notifications are currently being delivered to the listeners of {@link onNotification}. Servers poll rarely
   * while this is `true`, and often while it is `false`. When the value changes, listeners are notified of `listening`.
   */
  readonly notificationsArrive: boolean;
  /**
   * Notifies the listener of what happened. Notifications are only hints: they can be late, missing, unnecessary or
   * false. Returns a function that unsubscribes the listener.
   *
   * @param queues the queues of whose ready jobs the listener is notified, whichever process makes them ready; none by
   *   default
   */
  onNotification(listener: NotificationListener, queues?: readonly string[]): () => void;
}

/**
 * Checks that a value is a storage, as far as a part of Longshore uses it.
 *
 * @param where the function or class that was given the value, at the start of the message
 * @param parts the members that it uses
 * @throws {TypeError} if the value is something else; the message states what
 */
export function checkStorage(where: string, storage: object, parts: readonly (keyof JobStorage)[]): void {
  const candidate: Partial<Record<keyof JobStorage, unknown>> | null = storage;
  const isStorage =
    typeof candidate === 'object' &&
    candidate !== null &&
    parts.every((part) => typeof candidate[part] === 'object' && candidate[part] !== null);
  if (isStorage) return;
  throw new TypeError(
    `${where} needs a storage, such as new PostgresStorage({ url }) or new MemoryStorage(), not ${shown(storage)}`,
  );
}
