import { retentionOf } from '@longshore/jobs';
import { Database } from './database.js';
import { DatabaseClock } from './database-clock.js';
import { HistoryIndexes } from './history-indexes.js';
import { Housekeeping } from './housekeeping.js';
import { LimitedQueues } from './limited-queues.js';
import {
  databaseOptions,
  mostQueues,
  type PostgresOptions,
  readOptions,
  searchOptions,
} from './postgres-options.js';
import { PostgresAdmission } from './postgres-admission.js';
import { PostgresAuditLog } from './postgres-audit.js';
import { PostgresBatches } from './postgres-batches.js';
import { PostgresBulkOperations } from './postgres-bulk.js';
import { PostgresClaims } from './postgres-claims.js';
import { PostgresCounters } from './postgres-counters.js';
import { PostgresCompletions } from './postgres-completions.js';
import { PostgresContinuations } from './postgres-continuations.js';
import { PostgresControl } from './postgres-control.js';
import { PostgresEditing } from './postgres-editing.js';
import { PostgresFailures } from './postgres-failures.js';
import { PostgresFeed } from './postgres-feed.js';
import { PostgresIntake } from './postgres-intake.js';
import { PostgresLeases } from './postgres-leases.js';
import { PostgresLinkMarker } from './postgres-link-marker.js';
import { PostgresOutbox } from './postgres-outbox.js';
import { PostgresReader } from './postgres-reader.js';
import { PostgresRecurringJobs } from './postgres-recurring.js';
import { PostgresRegistry } from './postgres-registry.js';
import { PostgresReports } from './postgres-reports.js';
import { endsWithin } from './pool.js';
import { PostgresSetAside } from './postgres-set-aside.js';
import { PostgresStatistics } from './postgres-statistics.js';
import { QueueDirectory } from './queue-directory.js';
import { indexPlans, searchPlans } from './settings.js';
import { longestOf } from './retention.js';
import { WakeUps } from './wake-ups.js';

export type StorageParts = ReturnType<typeof assembleStorage>;

/** The parts of a Postgres storage, each one role of the storage contract, joined. Connects when they are first used. */
export function assembleStorage(options: PostgresOptions) {
  const database = new Database(databaseOptions(options));
  const reads = new Database(readOptions(options));
  const searches = new Database(searchOptions(options), searchPlans, 0);
  // Who waits for jobs shares no connection with who searches.
  const feeds = new Database({ ...databaseOptions(options), poolSize: 2 }, searchPlans, 0);
  const clock = new DatabaseClock(database);
  const wakeUps = new WakeUps(database);
  const announce = (queue: string | null): void => wakeUps.announce(queue);
  // Connections apart: what happens in transactions may need a queue's number, and must not wait for those that wait for it.
  const lookUps = new Database({ ...databaseOptions(options), poolSize: 2 }, indexPlans, 0);
  const queues = new QueueDirectory(lookUps, reads, mostQueues(options));
  const setAside = new PostgresSetAside(database, clock, announce);
  const intake = new PostgresIntake(database, clock, queues, wakeUps);
  const limits = new LimitedQueues(database, queues, wakeUps);
  const claims = new PostgresClaims(database, queues, wakeUps, limits, setAside);
  const reader = new PostgresReader(reads, searches, clock, queues, new PostgresCounters(reads));
  // What is to be changed is looked up on the connections of writes.
  const lookups = new PostgresReader(database, searches, clock, queues, new PostgresCounters(database));
  const batches = new PostgresBatches({ database, reads }, queues, announce);
  const historyIndexes = new HistoryIndexes(
    database,
    new Database({ ...databaseOptions(options), poolSize: 1 }, indexPlans, 0),
  );
  const retentionDays = retentionOf(options.retentionDays);
  const consequences = [batches, new PostgresContinuations(queues), new PostgresAdmission(queues)];
  return {
    database,
    reads,
    searches,
    feeds,
    lookUps,
    clock,
    queues,
    wakeUps,
    intake,
    limits,
    claims,
    reader,
    batches,
    audit: new PostgresAuditLog(database, reads),
    leases: new PostgresLeases(reads, queues),
    failures: new PostgresFailures(reads, queues),
    feed: new PostgresFeed(database, feeds, clock, queues),
    bulk: new PostgresBulkOperations(database, queues, lookups, setAside, clock, announce),
    statistics: new PostgresStatistics(reads, queues, clock),
    recurring: new PostgresRecurringJobs(database, intake, wakeUps, setAside),
    registry: new PostgresRegistry(database, clock, queues, () => claims.rescue(true)),
    completions: new PostgresCompletions(database, queues, wakeUps, limits, setAside),
    control: new PostgresControl(database, queues, lookups, wakeUps, limits),
    editing: new PostgresEditing(database, queues, wakeUps),
    outbox: new PostgresOutbox(
      database,
      new PostgresLinkMarker(database, setAside),
      consequences,
      setAside,
      announce,
    ),
    setAside,
    reports: new PostgresReports({ database, reads }, clock, queues, reader, longestOf(retentionDays)),
    historyIndexes,
    housekeeping: new Housekeeping(database, retentionDays, setAside),
  };
}

/** What is under way when a storage closes gets this long, in milliseconds. */
const closeGraceMs = 3_000;

/** Waits for what is under way, but not for long, then lets go of every connection and timer. */
export async function closeParts(parts: StorageParts): Promise<void> {
  const { intake, limits, registry, wakeUps, historyIndexes, reads, searches, feeds, lookUps, database } =
    parts;
  limits.close();
  // Whatever of it waits for a database that does not answer is cut off with its connection.
  await endsWithin(
    closeGraceMs,
    inOrder(intake.drained(), () => registry.close()),
  );
  await endsWithin(closeGraceMs, Promise.all([wakeUps.close(), historyIndexes.close()]));
  await Promise.all([reads, searches, feeds, lookUps, database].map((pool) => pool.close()));
}

async function inOrder(first: Promise<void>, second: () => Promise<void>): Promise<void> {
  await first;
  await second();
}
