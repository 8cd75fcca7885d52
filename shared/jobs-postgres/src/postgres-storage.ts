import type { JobStorage } from '@longshore/jobs';
import { retentionOf } from '@longshore/jobs/storage';
import { Database } from './database.js';
import { DatabaseClock } from './database-clock.js';
import { HistoryIndexes } from './history-indexes.js';
import { Housekeeping } from './housekeeping.js';
import { JobEditor } from './job-editor.js';
import { LimitedQueues } from './limited-queues.js';
import { jobStore, migrate } from './migrate.js';
import { endsWithin } from './pool.js';
import { PostgresAdmission } from './postgres-admission.js';
import { PostgresAuditLog } from './postgres-audit.js';
import { PostgresBatches } from './postgres-batches.js';
import { PostgresBulkOperations } from './postgres-bulk.js';
import { PostgresClaims } from './postgres-claims.js';
import { PostgresCompletions } from './postgres-completions.js';
import { PostgresContinuations } from './postgres-continuations.js';
import { PostgresControl } from './postgres-control.js';
import { PostgresCounters } from './postgres-counters.js';
import { PostgresFeed } from './postgres-feed.js';
import { PostgresIntake } from './postgres-intake.js';
import { PostgresJobReader } from './postgres-job-reader.js';
import { PostgresLeases } from './postgres-leases.js';
import { PostgresLinkMarker } from './postgres-link-marker.js';
import { PostgresMaintenance } from './postgres-maintenance.js';
import {
  databaseOptions,
  mostQueues,
  type PostgresOptions,
  readOptions,
  searchOptions,
} from './postgres-options.js';
import { PostgresOutbox } from './postgres-outbox.js';
import { PostgresQueues } from './postgres-queues.js';
import { PostgresRecurringJobs } from './postgres-recurring.js';
import { PostgresReports } from './postgres-reports.js';
import { PostgresServers } from './postgres-servers.js';
import { PostgresSetAside } from './postgres-set-aside.js';
import { PostgresStatistics } from './postgres-statistics.js';
import { QueueDirectory } from './queue-directory.js';
import { ReadyScans } from './ready-scans.js';
import { longestOf } from './retention.js';
import { indexPlans, searchPlans } from './settings.js';
import { WakeUps } from './wake-ups.js';

/** Work under way when a storage closes gets this long, in milliseconds. */
const closeGraceMs = 3_000;

/** Keeps jobs in Postgres 15 to 18: the roles of the storage contract, joined. Connects when a role is first used. */
export class PostgresStorage implements JobStorage {
  readonly clock: DatabaseClock;
  readonly enqueuer: PostgresIntake;
  readonly jobs: PostgresJobReader;
  readonly control: PostgresControl;
  readonly claims: PostgresClaims;
  readonly completions: PostgresCompletions;
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
  readonly audit: PostgresAuditLog;
  readonly setAside: PostgresSetAside;
  readonly #database: Database;
  readonly #reads: Database;
  readonly #pools: readonly Database[];
  readonly #queueIds: QueueDirectory;
  readonly #limits: LimitedQueues;
  readonly #wakeUps: WakeUps;
  readonly #setsCap: boolean;
  readonly #housekeeping: Housekeeping;
  readonly #historyIndexes: HistoryIndexes;

  constructor(options: PostgresOptions) {
    const own = databaseOptions(options);
    const database = new Database(own);
    const reads = new Database(readOptions(options));
    const searches = new Database(searchOptions(options), searchPlans, 0);
    // Waiting for jobs shares no connection with searching for them.
    const feeds = new Database({ ...own, poolSize: 2 }, searchPlans, 0);
    // A transaction may need a queue's number and must not wait for a connection that waits for its lock.
    const lookUps = new Database({ ...own, poolSize: 2 }, indexPlans, 0);
    const indexing = new Database({ ...own, poolSize: 1 }, indexPlans, 0);
    const clock = new DatabaseClock(database);
    const wakeUps = new WakeUps(database);
    const announce = (queue: string | null): void => wakeUps.announce(queue);
    const queues = new QueueDirectory(lookUps, reads, mostQueues(options));
    const setAside = new PostgresSetAside(database, clock, announce);
    const limits = new LimitedQueues(database, queues, wakeUps);
    const scans = new ReadyScans(database, queues, wakeUps);
    const counters = new PostgresCounters(reads);
    // What is about to be changed is read on the connections of writes.
    const written = new PostgresJobReader(database, searches, clock, queues, new PostgresCounters(database));
    const retentionDays = retentionOf(options.retentionDays);
    const housekeeping = new Housekeeping(database, retentionDays, setAside);
    const historyIndexes = new HistoryIndexes(database, indexing);
    this.clock = clock;
    this.enqueuer = new PostgresIntake(database, clock, queues, wakeUps);
    this.jobs = new PostgresJobReader(reads, searches, clock, queues, counters);
    this.control = new PostgresControl(
      database,
      queues,
      written,
      wakeUps,
      new JobEditor(database, queues, wakeUps),
    );
    this.claims = new PostgresClaims(database, queues, limits, scans);
    this.completions = new PostgresCompletions(database, queues, wakeUps, limits, setAside);
    this.leases = new PostgresLeases(reads, queues);
    this.reports = new PostgresReports(
      { database, reads },
      clock,
      queues,
      this.jobs,
      longestOf(retentionDays),
    );
    this.queues = new PostgresQueues({ database, reads, queues, counters, limits, wakeUps });
    this.batches = new PostgresBatches({ database, reads }, queues, announce);
    const consequences = [this.batches, new PostgresContinuations(queues), new PostgresAdmission(queues)];
    const marker = new PostgresLinkMarker(database, setAside);
    const outbox = new PostgresOutbox(database, marker, consequences, setAside, announce);
    this.maintenance = new PostgresMaintenance({
      database,
      queues,
      wakeUps,
      scans,
      outbox,
      housekeeping,
      historyIndexes,
      setAside,
    });
    this.servers = new PostgresServers({ database, reads }, clock, queues, () =>
      this.maintenance.rescue(true),
    );
    this.recurring = new PostgresRecurringJobs(database, this.enqueuer, wakeUps, setAside);
    this.bulk = new PostgresBulkOperations(database, queues, written, setAside, clock, announce);
    this.feed = new PostgresFeed(database, feeds, clock, queues);
    this.statistics = new PostgresStatistics(reads, queues, clock);
    this.audit = new PostgresAuditLog(database, reads);
    this.setAside = setAside;
    this.#database = database;
    this.#reads = reads;
    this.#pools = [reads, searches, feeds, lookUps, database];
    this.#queueIds = queues;
    this.#limits = limits;
    this.#wakeUps = wakeUps;
    this.#setsCap = options.maxQueues !== undefined;
    this.#housekeeping = housekeeping;
    this.#historyIndexes = historyIndexes;
  }

  async readClock(): Promise<Date> {
    return new Date(await this.clock.read());
  }

  async ping(): Promise<void> {
    await this.#reads.query({ text: 'select' });
  }

  async open(): Promise<void> {
    await migrate(this.#database.options, jobStore);
    await this.#housekeeping.days.make();
    // The first caller should not have to wait for what can be done now.
    await Promise.all([this.#database.connect(), this.#queueIds.all(), this.clock.read()]);
    if (this.#setsCap) await this.#queueIds.setCap();
  }

  async close(): Promise<void> {
    this.#limits.close();
    // What still waits for a database that does not answer is cut off with its connection.
    const written = this.enqueuer.drained().then(() => this.servers.close());
    await endsWithin(closeGraceMs, written);
    await endsWithin(closeGraceMs, Promise.all([this.#wakeUps.close(), this.#historyIndexes.close()]));
    await Promise.all(this.#pools.map((pool) => pool.close()));
  }

  onNotification(listener: (queue: string | null) => void): () => void {
    return this.#wakeUps.listen(listener);
  }
}
