import type {
  AuditLog,
  BatchControlResult,
  BulkOperations,
  Claim,
  ClaimedJob,
  ClaimRequest,
  Completion,
  ControlOptions,
  ControlResult,
  Job,
  JobFeed,
  JobReport,
  JobStatistics,
  JobStorage,
  NewBatch,
  NewJob,
  PromotionReport,
  QueueDeletion,
  RecurringJobs,
  Receipt,
  RescueReport,
  ServerControlResult,
  ServerRegistration,
  SetAside,
  TransactionClient,
} from '@longshore/jobs';
import { jobStore, migrate } from './migrate.js';
import type { PostgresOptions } from './postgres-options.js';
import { PostgresReads } from './postgres-reads.js';
import { assembleStorage, closeParts } from './storage-parts.js';

/** Keeps jobs in Postgres 15 to 18. Every method hands over to the part of the storage whose role it is. */
export class PostgresStorage extends PostgresReads implements JobStorage {
  readonly recurring: RecurringJobs;
  readonly feed: JobFeed;
  readonly bulk: BulkOperations;
  readonly audit: AuditLog;
  readonly statistics: JobStatistics;
  readonly setAside: SetAside;
  readonly #setsCap: boolean;

  constructor(options: PostgresOptions) {
    super(assembleStorage(options));
    this.#setsCap = options.maxQueues !== undefined;
    this.recurring = this.parts.recurring;
    this.feed = this.parts.feed;
    this.bulk = this.parts.bulk;
    this.audit = this.parts.audit;
    this.statistics = this.parts.statistics;
    this.setAside = this.parts.setAside;
  }

  async open(): Promise<void> {
    const { database, clock, housekeeping, queues } = this.parts;
    await migrate(database.options, jobStore);
    await housekeeping.days.make();
    // The first caller should not have to wait for what can be done now.
    await Promise.all([database.connect(), queues.all(), clock.read()]);
    if (this.#setsCap) await queues.setCap();
  }

  close(): Promise<void> {
    return closeParts(this.parts);
  }

  enqueue(job: NewJob): Promise<Receipt> {
    return this.parts.intake.enqueue(job);
  }

  enqueueMany(jobs: readonly NewJob[], transaction?: TransactionClient): Promise<Receipt> {
    return this.parts.intake.enqueueMany(jobs, transaction);
  }

  enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<Receipt> {
    return this.parts.intake.enqueueBatch(batch, transaction);
  }

  claim(request: ClaimRequest): Promise<ClaimedJob[]> {
    return this.parts.claims.claim(request);
  }

  renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]> {
    return this.parts.claims.renew(claims, leaseMs);
  }

  complete(completions: readonly Completion[]): Promise<Claim[]> {
    return this.parts.completions.complete(completions);
  }

  report(reports: readonly JobReport[], transaction?: TransactionClient): Promise<Claim[]> {
    return this.parts.reports.report(reports, transaction);
  }

  completeWithin(...call: Parameters<JobStorage['completeWithin']>): Promise<void> {
    return this.parts.completions.completeWithin(...call);
  }

  claimsOf(serverId: string, queue: string): Promise<Claim[]> {
    return this.parts.claims.claimsOf(serverId, queue);
  }

  release(claims: readonly Claim[]): Promise<Claim[]> {
    return this.parts.claims.release(claims);
  }

  promoteDue(limit: number): Promise<PromotionReport> {
    return this.parts.claims.promoteDue(limit);
  }

  settle(limit: number): Promise<number> {
    return this.parts.outbox.settle(limit);
  }

  rescue(): Promise<RescueReport> {
    return this.parts.claims.rescue();
  }

  async maintain(): Promise<void> {
    await this.parts.housekeeping.runOnce();
    this.parts.historyIndexes.begin();
  }

  onWakeUp(listener: (queue: string | null) => void): () => void {
    return this.parts.wakeUps.listen(listener);
  }

  registerServer(...call: Parameters<JobStorage['registerServer']>): Promise<ServerRegistration> {
    return this.parts.registry.registerServer(...call);
  }

  editJobs(...call: Parameters<JobStorage['editJobs']>): Promise<Job[]> {
    return this.parts.editing.editJobs(...call);
  }

  quietServer(...call: Parameters<JobStorage['quietServer']>): Promise<ServerControlResult> {
    return this.parts.registry.quietServer(...call);
  }

  stopServer(...call: Parameters<JobStorage['stopServer']>): Promise<ServerControlResult> {
    return this.parts.registry.stopServer(...call);
  }

  cancelJob(id: string, options?: ControlOptions): Promise<ControlResult> {
    return this.parts.control.cancelJob(id, options);
  }

  retryJob(id: string, options?: ControlOptions): Promise<ControlResult> {
    return this.parts.control.retryJob(id, options);
  }

  runJob(id: string, options?: ControlOptions): Promise<ControlResult> {
    return this.parts.control.runJob(id, options);
  }

  rescheduleJob(id: string, runAt: Date): Promise<ControlResult> {
    return this.parts.control.rescheduleJob(id, runAt);
  }

  deleteJob(id: string, options?: ControlOptions): Promise<ControlResult> {
    return this.parts.control.deleteJob(id, options);
  }

  cancelBatch(...call: Parameters<JobStorage['cancelBatch']>): Promise<BatchControlResult> {
    return this.parts.batches.cancelBatch(...call);
  }

  pauseQueue(...call: Parameters<JobStorage['pauseQueue']>): Promise<boolean> {
    return this.parts.control.pauseQueue(...call);
  }

  resumeQueue(...call: Parameters<JobStorage['resumeQueue']>): Promise<boolean> {
    return this.parts.control.resumeQueue(...call);
  }

  deleteQueue(...call: Parameters<JobStorage['deleteQueue']>): Promise<QueueDeletion> {
    return this.parts.control.deleteQueue(...call);
  }

  limitQueue(...call: Parameters<JobStorage['limitQueue']>): Promise<boolean> {
    return this.parts.control.limitQueue(...call);
  }

  cancellations(claims: readonly Claim[]): Promise<Claim[]> {
    return this.parts.control.cancellations(claims);
  }
}
