import { type JobStorage, StorageClosedError } from '@longshore/jobs';
import { distribute } from './citus/distribution.js';
import { PostgresAlerts } from './records/alerts.js';
import { PostgresIncidents } from './records/incidents.js';
import { PostgresInstallation } from './records/installation.js';
import {
  checkDocumentedCalls,
  type Notification,
  type NotificationListener,
  type PoolStatus,
  type ReadReplicaStatus,
  retentionOf,
} from '@longshore/jobs/storage';
import { Database } from './connection/database.js';
import { DatabaseClock } from './connection/database-clock.js';
import { HistoryIndexes } from './history/history-indexes.js';
import { Housekeeping } from './maintain/housekeeping.js';
import { CancellationRequests } from './claim/cancellation-requests.js';
import { JobEditor } from './control/job-editor.js';
import { LimitedQueues } from './claim/limited-queues.js';
import { jobStoreIn, migrate, type MigrationPolicy, pendingMigrations } from './connection/migrate.js';
import { endsWithin } from './connection/pool.js';
import { SignalRelay } from './dependencies/signal-relay.js';
import { ConcurrencySemaphore } from './dependencies/concurrency-semaphore.js';
import { PostgresAuditLog } from './records/audit.js';
import { PostgresBatches } from './dependencies/batches.js';
import { PostgresBulkOperations } from './bulk/bulk-operations.js';
import { PostgresClaims } from './claim/claims.js';
import { PostgresCompletions } from './complete/completions.js';
import { PostgresContinuations } from './dependencies/continuations.js';
import { PostgresControl } from './control/job-control.js';
import { PostgresCounters } from './queues/counters.js';
import { PostgresFeed } from './read/feed.js';
import { PostgresDeployments } from './records/deployments.js';
import { PostgresJobTypes } from './control/job-types.js';
import { PostgresEnqueuer } from './enqueue/enqueuer.js';
import { PostgresJobReader } from './read/job-reader.js';
import { PostgresLeases } from './read/leases.js';
import { DependencyMarker } from './dependencies/dependency-marker.js';
import { PostgresMaintenance } from './maintain/maintenance.js';
import {
  ownConnectionOptions,
  databaseOptions,
  maxQueues,
  migrationPolicy,
  type PostgresOptions,
  readOptions,
  replicaOptions,
  replicaPolicy,
  searchOptions,
} from './connection/options.js';
import { OutboxRelay } from './dependencies/outbox-relay.js';
import { PostgresQuotas } from './control/quotas.js';
import { PostgresQueues } from './control/queues.js';
import { PostgresRecurringJobs } from './recurring/recurring-jobs.js';
import { PostgresReports } from './read/reports.js';
import { PostgresSavedSearches } from './records/saved-searches.js';
import { PostgresWarningRules } from './records/warning-rules.js';
import { PostgresServers } from './servers/servers.js';
import { PostgresSteps } from './steps/postgres-steps.js';
import { Resumptions } from './maintain/resumptions.js';
import { PostgresSetAside } from './records/set-aside.js';
import { PostgresStatistics } from './statistics/statistics.js';
import { PostgresTimings } from './statistics/timings.js';
import { QueueIdCache } from './queues/queue-id-cache.js';
import { ReplicaSearches } from './search/replica-searches.js';
import { ReadyScans } from './claim/ready-scans.js';
import { longestOf } from './history/retention.js';
import { feedPlans, indexPlans, searchPlans } from './connection/session.js';
import { Notifier } from './notifications/notifier.js';
import { unnamed } from './connection/statement.js';

const newestMigration = unnamed(
  `select coalesce(max(substring(name from '^[0-9]+')::integer), 0) as version from longshore.migration`,
);

/** Maximum time, in milliseconds, that each step of closing waits for running work. */
const closeGraceMs = 3_000;

/** Stores jobs in Postgres 15 to 18. Connects on first use. */
export class PostgresStorage implements JobStorage {
  readonly clock: DatabaseClock;
  readonly enqueuer: PostgresEnqueuer;
  readonly jobs: PostgresJobReader;
  readonly control: PostgresControl;
  readonly claims: PostgresClaims;
  readonly completions: PostgresCompletions;
  readonly steps: PostgresSteps;
  readonly leases: PostgresLeases;
  readonly reports: PostgresReports;
  readonly maintenance: PostgresMaintenance;
  readonly queues: PostgresQueues;
  readonly servers: PostgresServers;
  readonly batches: PostgresBatches;
  readonly recurring: PostgresRecurringJobs;
  readonly bulk: PostgresBulkOperations;
  readonly feed: PostgresFeed;
  readonly statistics: PostgresStatistics;
  readonly timings: PostgresTimings;
  readonly jobTypes: PostgresJobTypes;
  readonly deployments: PostgresDeployments;
  readonly savedSearches: PostgresSavedSearches;
  readonly warningRules: PostgresWarningRules;
  readonly audit: PostgresAuditLog;
  readonly setAside: PostgresSetAside;
  readonly incidents: PostgresIncidents;
  readonly alerts: PostgresAlerts;
  readonly installation: PostgresInstallation;
  readonly quotas: PostgresQuotas;
  readonly #database: Database;
  readonly #reads: Database;
  /** The pools, by what their connections are for. */
  readonly #pools: ReadonlyMap<string, Database>;
  readonly #queueIds: QueueIdCache;
  readonly #limits: LimitedQueues;
  readonly #notifier: Notifier;
  readonly #replica: ReplicaSearches | undefined;
  readonly #setsCap: boolean;
  readonly #pausesCopy: boolean;
  readonly #policy: MigrationPolicy;
  readonly #housekeeping: Housekeeping;
  readonly #historyIndexes: HistoryIndexes;
  #closed: Promise<void> | undefined;

  constructor(options: PostgresOptions) {
    const writes = databaseOptions(options);
    const database = new Database(writes, indexPlans, 1);
    const beside = ownConnectionOptions(options);
    const reads = new Database(readOptions(options));
    const searches = new Database(searchOptions(options), searchPlans);
    const onReplica = replicaOptions(options);
    const replica = onReplica && new Database(onReplica, searchPlans);
    const { maxLagMs, logger } = replicaPolicy(options);
    const onReplicaOrPrimary = replica && new ReplicaSearches(replica, searches, maxLagMs, logger);
    // The event feed has separate connections, so that it never waits for searches.
    const feeds = new Database({ ...beside, poolSize: 2 }, feedPlans);
    // Lookups have separate connections, so that calls that wait for a job (`?wait`) do not queue behind lists. Shared
    // connections could also cause a deadlock. A transaction that looks up a queue's id could wait for the last
    // connection, while that connection waits for one of the transaction's locks.
    const lookups = new Database({ ...beside, poolSize: 4 });
    const indexing = new Database({ ...beside, poolSize: 1 });
    const clock = new DatabaseClock(database);
    const queues = new QueueIdCache(lookups, reads, maxQueues(options));
    const notifier = new Notifier(database, queues);
    const notify = (notification: Notification): void => notifier.notify(notification);
    const setAside = new PostgresSetAside(database, clock, notify);
    const limits = new LimitedQueues(database, notifier);
    const scans = new ReadyScans(database, queues, notifier);
    const counters = new PostgresCounters(reads);
    // Actions and bulk operations use the connections for writes to read the jobs that they change.
    const written = new PostgresJobReader(
      { database, searches, lookups: database },
      clock,
      queues,
      new PostgresCounters(database),
    );
    const retentionDays = retentionOf(options.retentionDays);
    const timings = new PostgresTimings({ database, reads }, queues, clock);
    const requests = new CancellationRequests(database, notify);
    const housekeeping = new Housekeeping(
      database,
      clock,
      retentionDays,
      setAside,
      timings,
      notify,
      requests,
    );
    const historyIndexes = new HistoryIndexes(database, indexing);
    this.clock = clock;
    this.enqueuer = new PostgresEnqueuer(database, clock, queues, notifier);
    this.jobs = new PostgresJobReader(
      { database: reads, searches: onReplicaOrPrimary ?? searches, lookups },
      clock,
      queues,
      counters,
    );
    this.control = new PostgresControl(
      database,
      queues,
      written,
      notifier,
      new JobEditor(database, queues, notifier),
      requests,
    );
    this.claims = new PostgresClaims(database, queues, limits, scans, requests);
    this.completions = new PostgresCompletions(database, queues, notifier, limits, setAside, requests);
    this.steps = new PostgresSteps(database, queues, notifier, this.completions);
    this.leases = new PostgresLeases(reads, queues);
    this.reports = new PostgresReports(
      { database, reads },
      clock,
      queues,
      this.jobs,
      longestOf(retentionDays),
    );
    this.queues = new PostgresQueues({ database, reads, queues, counters, notifier, clock });
    this.batches = new PostgresBatches({ database, reads }, queues, notify);
    const resolvers = [
      this.batches,
      new PostgresContinuations(queues),
      new ConcurrencySemaphore(queues),
      new SignalRelay(),
    ];
    const marker = new DependencyMarker(database, setAside);
    const outbox = new OutboxRelay(database, marker, resolvers, setAside, notify);
    this.deployments = new PostgresDeployments({ database, reads }, clock);
    this.maintenance = new PostgresMaintenance({
      database,
      queues,
      notifier,
      scans,
      outbox,
      housekeeping,
      historyIndexes,
      setAside,
      resumptions: new Resumptions({ database, notifier, scans, setAside }),
    });
    this.servers = new PostgresServers({ database, reads }, clock, queues, this.deployments, notifier, () =>
      this.maintenance.rescue(true),
    );
    this.recurring = new PostgresRecurringJobs({
      database,
      enqueuer: this.enqueuer,
      notifier,
      setAside,
      clock,
    });
    this.bulk = new PostgresBulkOperations(database, queues, written, setAside, clock, notify);
    this.feed = new PostgresFeed(database, feeds, clock, queues);
    this.statistics = new PostgresStatistics(reads, queues, clock);
    this.timings = timings;
    this.jobTypes = new PostgresJobTypes({ database, reads }, scans, notifier, clock);
    this.savedSearches = new PostgresSavedSearches({ database, reads });
    this.warningRules = new PostgresWarningRules({ database, reads });
    this.audit = new PostgresAuditLog(database, reads);
    this.setAside = setAside;
    this.alerts = new PostgresAlerts({ database, reads }, clock);
    this.incidents = new PostgresIncidents({ database, reads }, this.alerts, clock);
    this.installation = new PostgresInstallation(database);
    this.quotas = new PostgresQuotas(database, queues);
    checkDocumentedCalls(this);
    this.#database = database;
    this.#reads = reads;
    this.#pools = new Map([
      ['reads', reads],
      ['searches', searches],
      ...(replica === undefined ? [] : [['replica-searches', replica] as const]),
      ['events', feeds],
      ['look-ups', lookups],
      ['indexing', indexing],
      ['writes', database],
    ]);
    this.#queueIds = queues;
    this.#limits = limits;
    this.#notifier = notifier;
    this.#replica = onReplicaOrPrimary;
    this.#setsCap = options.maxQueues !== undefined;
    this.#pausesCopy = options.start === 'paused';
    this.#policy = migrationPolicy(options);
    this.#housekeeping = housekeeping;
    this.#historyIndexes = historyIndexes;
  }

  async readClock(): Promise<Date> {
    return new Date(await this.clock.read());
  }

  async ping(): Promise<void> {
    // Connections for reads that nobody has needed lately are not opened for this.
    const { inUse, idle } = this.#reads.poolStatus('reads');
    const reads = inUse + idle > 0 && this.#reads.query(unnamed('select'));
    await Promise.all([this.#database.requireWritable(), reads]);
  }

  async readReplica(): Promise<ReadReplicaStatus | null> {
    return (await this.#replica?.status()) ?? null;
  }

  pools(): PoolStatus[] {
    return [...this.#pools].map(([name, pool]) => pool.poolStatus(name));
  }

  async open(): Promise<void> {
    if (this.#closed !== undefined) throw new StorageClosedError();
    await migrate(this.#database.options, await jobStoreIn(this.#database.schema), this.#policy);
    await distribute(this.#database.options, this.#policy.mode);
    await this.#housekeeping.days.make();
    // Opens a connection and fills caches now, so that the first caller does not have to wait. One after the other,
    // because services that start together should not open more connections than they need.
    await this.#database.connect();
    if (this.#pausesCopy) await this.installation.pauseCopy();
    await this.#queueIds.fill(this.#database, this.#setsCap);
    await this.clock.read();
  }

  /** Resolves to the names of the migrations that {@link open} would run, in order. Changes nothing. */
  async pendingMigrations(): Promise<readonly string[]> {
    return pendingMigrations(this.#database.options, await jobStoreIn(this.#database.schema));
  }

  /** Resolves to the number of the newest migration that the database has; 0 if it has none. */
  async migrationVersion(): Promise<number> {
    const [row] = await this.#reads.query<{ version: number }>(newestMigration);
    return row?.version ?? 0;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#limits.close();
    // Limits the time of each step, because the database may be unresponsive. Closing the pools then cuts off work that
    // is still running.
    const written = this.enqueuer.drained().then(() => this.servers.close());
    await endsWithin(closeGraceMs, Promise.all([written, this.timings.store().catch(() => undefined)]));
    await endsWithin(closeGraceMs, Promise.all([this.#notifier.close(), this.#historyIndexes.close()]));
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  get notificationsArrive(): boolean {
    return this.#notifier.isComplete;
  }

  onNotification(listener: NotificationListener, queues?: readonly string[]): () => void {
    return this.#notifier.listen(listener, queues);
  }
}
