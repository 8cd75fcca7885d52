import type { NotificationListener } from '../storage/notification.js';
import { isFunction, isInteger } from '../job/argument-check.js';
import { type Clock, isClock, systemClock } from '../job/clock.js';
import { checkOptions, type OptionNames } from '../job/options.js';
import { type RetentionDays, retentionOf } from '../storage/maintenance.js';
import { checkDocumentedCalls } from '../storage/documented-calls.js';
import type { PoolStatus } from '../storage/pool-status.js';
import type { ReadReplicaStatus } from '../storage/read-replica.js';
import type { JobStorage } from '../storage/storage.js';
import { MemoryAlerts } from './memory-alerts.js';
import { MemoryIncidents } from './memory-incidents.js';
import { MemoryAuditLog } from './memory-audit.js';
import { MemoryBatches } from './memory-batches.js';
import { MemoryBulkOperations } from './memory-bulk.js';
import { type BeginTransaction, MemoryClaims, MemoryCompletions, MemoryLeases } from './memory-claims.js';
import { MemoryControl, MemoryJobTypes } from './memory-control.js';
import { MemoryDeployments } from './memory-deployments.js';
import { MemoryEnqueuer } from './memory-enqueuer.js';
import { MemoryFeed } from './memory-feed.js';
import { MemoryInstallation } from './memory-installation.js';
import { MemoryJobReader } from './memory-job-reader.js';
import { MemoryJobs } from './memory-jobs.js';
import { MemoryMaintenance, MemoryResumptions } from './memory-maintenance.js';
import { MemoryQueues, MemoryQuotas } from './memory-queues.js';
import { MemoryRecurringJobs } from './memory-recurring.js';
import { MemoryReports } from './memory-reports.js';
import { MemorySavedSearches } from './memory-saved-searches.js';
import { MemoryWarningRules } from './memory-warning-rules.js';
import { MemoryServers } from './memory-servers.js';
import { MemorySetAside } from './memory-set-aside.js';
import { MemoryStatistics } from './memory-statistics.js';
import { MemorySteps } from './memory-steps.js';
import { MemoryTimings } from './memory-timings.js';

export interface MemoryStorageOptions {
  clock?: Clock;
  /**
   * Maximum number of finished jobs, and also of finished batches; 10,000 by default. Beyond this number, the oldest
   * are deleted, even before `retentionDays` have passed.
   */
  maxFinished?: number;
  /** Maximum number of queues; 1 to 1,000,000, 10,000 by default. */
  maxQueues?: number;
  /**
   * Runs work in a transaction of the application's database. Required if handlers call `transaction`; none by default.
   */
  transaction?: BeginTransaction;
  /**
   * Number of days to keep finished jobs, by final state: 1 to 3650. By default 7 for `done` and `cancelled`, 30 for
   * `failed`.
   */
  retentionDays?: Partial<RetentionDays>;
}

const memoryOptions: OptionNames<MemoryStorageOptions> = {
  clock: isClock,
  maxFinished: isInteger(),
  maxQueues: isInteger({ min: 1, max: 1_000_000 }),
  transaction: isFunction,
  retentionDays: true,
};

/**
 * Keeps jobs in this process's memory. The jobs are lost when the process ends. Intended for tests, first
 * experiments and single-process applications.
 */
export class MemoryStorage implements JobStorage {
  readonly clock: Clock;
  readonly enqueuer: MemoryEnqueuer;
  readonly jobs: MemoryJobReader;
  readonly control: MemoryControl;
  readonly claims: MemoryClaims;
  readonly completions: MemoryCompletions;
  readonly steps: MemorySteps;
  readonly leases: MemoryLeases;
  readonly reports: MemoryReports;
  readonly maintenance: MemoryMaintenance;
  readonly queues: MemoryQueues;
  readonly servers: MemoryServers;
  readonly batches: MemoryBatches;
  readonly recurring: MemoryRecurringJobs;
  readonly bulk: MemoryBulkOperations;
  readonly feed: MemoryFeed;
  readonly statistics: MemoryStatistics;
  readonly timings: MemoryTimings;
  readonly jobTypes: MemoryJobTypes;
  readonly deployments: MemoryDeployments;
  readonly savedSearches: MemorySavedSearches;
  readonly warningRules: MemoryWarningRules;
  readonly audit: MemoryAuditLog;
  readonly setAside: MemorySetAside;
  readonly incidents: MemoryIncidents;
  readonly alerts: MemoryAlerts;
  readonly installation: MemoryInstallation;
  readonly quotas: MemoryQuotas;
  readonly notificationsArrive: boolean = true;
  readonly #jobs: MemoryJobs;

  /**
   * @throws {RangeError} if a value of `retentionDays` is out of bounds
   * @throws {TypeError} if an option is unknown
   */
  constructor(options: MemoryStorageOptions = {}) {
    checkOptions('MemoryStorage', options, memoryOptions);
    const { clock = systemClock, maxFinished = 10_000, maxQueues, retentionDays, transaction } = options;
    const jobs = new MemoryJobs(clock, maxQueues);
    const audit = new MemoryAuditLog(clock);
    const jobTypes = new MemoryJobTypes(clock, audit, jobs);
    const deployments = new MemoryDeployments(clock, audit);
    const servers = new MemoryServers({ clock, jobs, audit, deployments }, async () => {
      await this.maintenance.rescue();
    });
    const setAside = new MemorySetAside(clock, audit, (order) => void this.bulk.start(order));
    const timings = new MemoryTimings(jobs, clock);
    const recurring = new MemoryRecurringJobs(jobs, clock, setAside, audit);
    const resumptions = new MemoryResumptions({ jobs, jobTypes, recurring, audit, setAside, clock });
    const retention = { maxFinished, days: retentionOf(retentionDays) };
    this.#jobs = jobs;
    this.clock = clock;
    this.enqueuer = new MemoryEnqueuer(jobs, audit);
    this.jobs = new MemoryJobReader(jobs, servers);
    this.control = new MemoryControl(jobs, clock, audit);
    this.claims = new MemoryClaims(jobs, servers, jobTypes, clock);
    this.completions = new MemoryCompletions(jobs, clock, setAside, transaction);
    this.steps = new MemorySteps({
      jobs,
      clock,
      audit,
      inTransaction: (...given) => this.completions.inTransaction(...given),
      retry: (id) => this.control.retry(id, { ignoreDependencies: true }),
      cancel: (id) => this.control.cancel(id),
    });
    jobs.onEnd = (record) => this.steps.ended(record);
    this.leases = new MemoryLeases(jobs, servers, clock);
    this.reports = new MemoryReports(jobs, clock);
    this.maintenance = new MemoryMaintenance({
      jobs,
      servers,
      setAside,
      clock,
      retention,
      timings,
      resumptions,
      recurringQueues: async () => recurring.all.map(({ queue }) => queue),
    });
    this.queues = new MemoryQueues(jobs, servers, clock, audit);
    this.servers = servers;
    this.batches = new MemoryBatches(jobs, this.control, audit);
    this.recurring = recurring;
    this.bulk = new MemoryBulkOperations(jobs, this.control, clock, setAside, audit);
    this.feed = new MemoryFeed(jobs, clock);
    this.statistics = new MemoryStatistics(jobs, clock);
    this.timings = timings;
    this.jobTypes = jobTypes;
    this.deployments = deployments;
    this.savedSearches = new MemorySavedSearches(clock, audit);
    this.warningRules = new MemoryWarningRules(clock);
    this.audit = audit;
    this.setAside = setAside;
    this.alerts = new MemoryAlerts(clock);
    this.incidents = new MemoryIncidents(clock, audit, this.alerts);
    this.installation = new MemoryInstallation(clock, audit, this.alerts);
    this.quotas = new MemoryQuotas({ jobs, recurring, deployments: this.deployments, servers, clock });
    checkDocumentedCalls(this);
  }

  async readClock(): Promise<Date> {
    return new Date(this.clock.now());
  }

  async ping(): Promise<void> {}

  pools(): PoolStatus[] {
    return [];
  }

  async readReplica(): Promise<ReadReplicaStatus | null> {
    return null;
  }

  async open(): Promise<void> {
    this.#jobs.requireOpen();
  }

  async close(): Promise<void> {
    this.#jobs.close();
    this.claims.close();
    this.servers.close();
  }

  onNotification(listener: NotificationListener): () => void {
    return this.#jobs.notifications.subscribe(listener);
  }
}
