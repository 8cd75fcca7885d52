import {
  type Attempt,
  type Batch,
  type BatchControlResult,
  type BatchListQuery,
  type Claim,
  type ClaimedJob,
  type ClaimRequest,
  type Completion,
  type ContinuationPage,
  type ControlResult,
  type Job,
  type JobCount,
  type JobFilter,
  type JobListQuery,
  type JobStorage,
  type JsonText,
  type NewBatch,
  type NewJob,
  type PromotionReport,
  type Queue,
  type QueueLimits,
  type RescueReport,
  type Server,
  type ServerDescription,
  type ServerRegistration,
  type StateCounts,
  type TransactionClient,
} from '@longshore/jobs';
import { Database, type DatabaseOptions, searchPlans } from './database.js';
import { Housekeeping } from './housekeeping.js';
import { LimitedQueues } from './limited-queues.js';
import { databaseOptions, type PostgresOptions, retentionOf, searchOptions } from './postgres-options.js';
import { jobStore, migrate } from './migrate.js';
import { PostgresAdmission } from './postgres-admission.js';
import { PostgresBatches } from './postgres-batches.js';
import { PostgresClaims } from './postgres-claims.js';
import { PostgresCompletions } from './postgres-completions.js';
import { PostgresContinuations } from './postgres-continuations.js';
import { PostgresControl } from './postgres-control.js';
import { PostgresIntake } from './postgres-intake.js';
import { PostgresLinkMarker } from './postgres-link-marker.js';
import { PostgresOutbox } from './postgres-outbox.js';
import { PostgresReader } from './postgres-reader.js';
import { PostgresRecurringJobs } from './postgres-recurring.js';
import { PostgresRegistry } from './postgres-registry.js';
import { QueueDirectory } from './queue-directory.js';
import { WakeUps } from './wake-ups.js';

/** Keeps jobs in Postgres 15 to 18. Each of its parts is one role of the storage contract; this class joins them. */
export class PostgresStorage implements JobStorage {
  readonly recurring: PostgresRecurringJobs;
  readonly #options: DatabaseOptions;
  readonly #database: Database;
  readonly #searches: Database;
  readonly #wakeUps: WakeUps;
  readonly #intake: PostgresIntake;
  readonly #limits: LimitedQueues;
  readonly #claims: PostgresClaims;
  readonly #completions: PostgresCompletions;
  readonly #control: PostgresControl;
  readonly #registry: PostgresRegistry;
  readonly #reader: PostgresReader;
  readonly #batches: PostgresBatches;
  readonly #outbox: PostgresOutbox;
  readonly #housekeeping: Housekeeping;

  constructor(options: PostgresOptions) {
    this.#options = databaseOptions(options);
    this.#database = new Database(this.#options);
    this.#searches = new Database(searchOptions(options), searchPlans);
    this.#wakeUps = new WakeUps(this.#database);
    const queues = new QueueDirectory(this.#database);
    this.#intake = new PostgresIntake(this.#database, queues, this.#wakeUps);
    this.recurring = new PostgresRecurringJobs(this.#database, this.#intake, this.#wakeUps);
    this.#limits = new LimitedQueues(this.#database, queues, this.#wakeUps);
    this.#claims = new PostgresClaims(this.#database, queues, this.#wakeUps, this.#limits);
    this.#registry = new PostgresRegistry(this.#database, queues, () => this.#claims.rescue());
    this.#completions = new PostgresCompletions(this.#database, queues, this.#wakeUps, this.#limits);
    this.#reader = new PostgresReader(this.#database, this.#searches, queues);
    this.#control = new PostgresControl(this.#database, queues, this.#reader, this.#wakeUps, this.#limits);
    const announce = (queue: string | null): void => this.#wakeUps.announce(queue);
    this.#batches = new PostgresBatches(this.#database, queues, announce);
    this.#outbox = new PostgresOutbox(
      this.#database,
      new PostgresLinkMarker(this.#database),
      [this.#batches, new PostgresContinuations(queues), new PostgresAdmission(queues)],
      announce,
    );
    this.#housekeeping = new Housekeeping(this.#database, retentionOf(options));
  }

  async open(): Promise<void> {
    await migrate(this.#options, jobStore);
    await this.#housekeeping.makePartitions();
  }

  async close(): Promise<void> {
    await this.#intake.drained();
    this.#limits.close();
    await this.#registry.close();
    await this.#wakeUps.close();
    await this.#searches.close();
    await this.#database.close();
  }

  enqueue(job: NewJob): Promise<void> {
    return this.#intake.enqueue(job);
  }

  enqueueMany(jobs: readonly NewJob[], transaction?: TransactionClient): Promise<void> {
    return this.#intake.enqueueMany(jobs, transaction);
  }

  enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<void> {
    return this.#intake.enqueueBatch(batch, transaction);
  }

  claim(request: ClaimRequest): Promise<ClaimedJob[]> {
    return this.#claims.claim(request);
  }

  renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]> {
    return this.#claims.renew(claims, leaseMs);
  }

  complete(completions: readonly Completion[]): Promise<Claim[]> {
    return this.#completions.complete(completions);
  }

  completeWithin(claim: Claim, work: (client: TransactionClient) => Promise<JsonText>): Promise<void> {
    return this.#completions.completeWithin(claim, work);
  }

  claimsOf(serverId: string, queue: string): Promise<Claim[]> {
    return this.#claims.claimsOf(serverId, queue);
  }

  release(claims: readonly Claim[]): Promise<Claim[]> {
    return this.#claims.release(claims);
  }

  promoteDue(limit: number): Promise<PromotionReport> {
    return this.#claims.promoteDue(limit);
  }

  settle(limit: number): Promise<number> {
    return this.#outbox.settle(limit);
  }

  rescue(): Promise<RescueReport> {
    return this.#claims.rescue();
  }

  maintain(): Promise<void> {
    return this.#housekeeping.runOnce();
  }

  onWakeUp(listener: (queue: string | null) => void): () => void {
    return this.#wakeUps.listen(listener);
  }

  registerServer(description: ServerDescription): Promise<ServerRegistration> {
    return this.#registry.registerServer(description);
  }

  cancelJob(id: string): Promise<ControlResult> {
    return this.#control.cancelJob(id);
  }

  retryJob(id: string): Promise<ControlResult> {
    return this.#control.retryJob(id);
  }

  runJob(id: string): Promise<ControlResult> {
    return this.#control.runJob(id);
  }

  rescheduleJob(id: string, runAt: Date): Promise<ControlResult> {
    return this.#control.rescheduleJob(id, runAt);
  }

  deleteJob(id: string): Promise<ControlResult> {
    return this.#control.deleteJob(id);
  }

  cancelBatch(id: string): Promise<BatchControlResult> {
    return this.#batches.cancelBatch(id);
  }

  pauseQueue(name: string): Promise<void> {
    return this.#control.pauseQueue(name);
  }

  resumeQueue(name: string): Promise<void> {
    return this.#control.resumeQueue(name);
  }

  limitQueue(name: string, limits: QueueLimits): Promise<void> {
    return this.#control.limitQueue(name, limits);
  }

  cancellations(claims: readonly Claim[]): Promise<Claim[]> {
    return this.#control.cancellations(claims);
  }

  findJob(id: string): Promise<Job | null> {
    return this.#reader.findJob(id);
  }

  listJobs(query: JobListQuery): Promise<Job[]> {
    return this.#reader.listJobs(query);
  }

  countJobs(filter?: JobFilter): Promise<JobCount> {
    return this.#reader.countJobs(filter);
  }

  stateCounts(): Promise<StateCounts> {
    return this.#reader.stateCounts();
  }

  listAttempts(jobId: string): Promise<Attempt[]> {
    return this.#reader.listAttempts(jobId);
  }

  listContinuations(id: string, page?: ContinuationPage): Promise<Job[]> {
    return this.#reader.listContinuations(id, page);
  }

  findBatch(id: string): Promise<Batch | null> {
    return this.#batches.findBatch(id);
  }

  listBatches(query: BatchListQuery): Promise<Batch[]> {
    return this.#batches.listBatches(query);
  }

  listQueues(): Promise<Queue[]> {
    return this.#reader.listQueues();
  }

  listServers(): Promise<Server[]> {
    return this.#reader.listServers();
  }

  ping(): Promise<void> {
    return this.#reader.ping();
  }
}
