import type {
  Attempt,
  Claim,
  ClaimedJob,
  Completion,
  Job,
  JobDocuments,
  NewJob,
  Queue,
  Server,
  StateCounts,
} from '../job/job.js';
import type { JobState } from '../job/state.js';
import type { BulkOperations } from './bulk-operations.js';
import type { ServerRequest, ServerState } from '../job/server-state.js';
import type { AuditLog } from './audit-log.js';
import type { BatchIntake, BatchReader } from './batch-store.js';
import type { JobCount } from './job-count.js';
import type { JobControl } from './job-control.js';
import type { JobEditing } from './job-editing.js';
import type { JobFeed } from './job-feed.js';
import type { FailedJobsReader } from './failed-jobs.js';
import type { JobFilter } from './job-filter.js';
import type { Receipt } from './receipt.js';
import type { JobLogReader, JobReports } from './job-reports.js';
import type { LivenessReader } from './lease.js';
import type { Orphan } from './orphan.js';
import type { JobStatistics } from './job-statistics.js';
import type { RecurringJobs } from './recurring-jobs.js';
import type { ServerControl } from './server-control.js';
import type { SetAside } from './set-aside.js';
import type { TransactionClient, WorkWithin } from './transaction.js';

/**
 * Keeps jobs, attempts, results and servers. Everything that runs Longshore is written against this
 * contract; `@longshore/jobs/conformance` is the suite that every implementation passes.
 *
 * A method that cannot reach the storage rejects with {@link StorageUnavailableError} and has then either
 * changed nothing or changed everything; the caller may not know which.
 */
export interface JobStorage
  extends JobIntake, ClaimStore, ServerRegistry, ServerControl, JobControl, JobEditing, JobReader {
  readonly recurring: RecurringJobs;
  readonly feed: JobFeed;
  readonly bulk: BulkOperations;
  readonly audit: AuditLog;
  readonly statistics: JobStatistics;
  readonly setAside: SetAside;
  /** Prepares the storage: connects, migrates. Safe to call from many processes at the same moment. */
  open(): Promise<void>;
  /** Waits for what is under way, then lets go of every connection and timer. */
  close(): Promise<void>;
}

/** Where clients drop jobs. */
export interface JobIntake extends BatchIntake {
  /** Resolves once the job is durable. Concurrent calls may share one write. Throws as {@link enqueueMany} does. */
  enqueue(job: NewJob): Promise<Receipt>;
  /**
   * All of them or none. With a transaction of the caller's they become visible when it commits and are gone when it
   * rolls back. Jobs are not created while others hold their keys; a key that another transaction has just taken is waited
   * for. Resolves to the jobs that stand in their place.
   *
   * @throws {DuplicateJobError} if one must not be there twice and is
   * @throws {IdempotencyConflictError} if an idempotency key was used for something else
   * @throws {UnknownParentError} if a job is to wait for something that is not there
   * @throws {TypeError} if the storage cannot take part in such a transaction
   */
  enqueueMany(jobs: readonly NewJob[], transaction?: TransactionClient): Promise<Receipt>;
}

export interface ClaimRequest {
  readonly serverId: string;
  readonly queue: string;
  /** At most this many jobs. */
  readonly limit: number;
  /** The lease ends this many milliseconds from now unless it is renewed. */
  readonly leaseMs: number;
}

/** What the periodic sweep found and mended. */
export interface RescueReport {
  /** Servers declared dead by this sweep. */
  readonly deadServers: string[];
  /** Jobs given back to their queue to run again. */
  readonly released: number;
  /** Jobs whose last attempt was lost: failed. */
  readonly failed: number;
}

export interface PromotionReport {
  /** Jobs that became ready. */
  readonly promoted: number;
  /** Milliseconds until the next scheduled job is due; 0 if more are due already; `null` if none waits. */
  readonly nextDueMs: number | null;
}

/** What servers do to jobs. Every write is fenced by its claim. */
export interface ClaimStore extends JobReports {
  /**
   * Hands over the next ready jobs of a queue, lowest priority number first, then oldest first; only jobs whose names the
   * server registered handlers for. The others stay in the queue for a server that knows them.
   * Rejects with {@link ServerLostError} if this server has been declared dead, so no claim slips in after.
   */
  claim(request: ClaimRequest): Promise<ClaimedJob[]>;
  /** Slides the leases forward. Returns the claims that no longer hold. */
  renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]>;
  /**
   * Records outcomes. Returns the claims that no longer held: their outcome changed nothing. A delay that is out of its bounds
   * counts as the nearest; a job whose outcome cannot be stored has failed, with the reason. None keeps others from theirs.
   */
  complete(completions: readonly Completion[]): Promise<Claim[]>;
  /**
   * Does the work of one job and records its outcome `done` in one transaction: both happen or neither. The claim is
   * checked first and held until the commit, so the work is done exactly once, whatever dies in between.
   *
   * @param work gets the transaction's client and gives the result
   * @param signal aborted, the transaction ends at once, whatever `work` is doing, and is rolled back unless its commit is
   * under way: when this rejects, no lock of it is left. Rejects with the signal's reason.
   * @throws {ClaimLostError} if the claim does not hold; `work` has not run, or what it did has been rolled back
   * @throws {TypeError} if the storage has no transactions
   */
  completeWithin(claim: Claim, work: WorkWithin, signal?: AbortSignal): Promise<void>;
  /** Every claim that a server holds in a queue, for one that lost the answer to its request. */
  claimsOf(serverId: string, queue: string): Promise<Claim[]>;
  /** Gives jobs back unstarted: ready at once, the attempt not counted. Returns the claims that no longer held. */
  release(claims: readonly Claim[]): Promise<Claim[]>;
  /** Makes scheduled jobs that are due ready, at most `limit` of them. One that cannot be moved is set aside. */
  promoteDue(limit: number): Promise<PromotionReport>;
  /**
   * Draws the consequences of at most `limit` moves of jobs on which others depend: its batch, the jobs that wait for it,
   * those that share its concurrency key. Resolves to the number of moves. Each is kept until it has been dealt with, so
   * a crash in between loses none. One that fails for a reason of its own data is set aside.
   */
  settle(limit: number): Promise<number>;
  /** Declares silent servers dead and takes back every claim that is theirs, expired or without an owner. A job that cannot be moved is set aside. */
  rescue(): Promise<RescueReport>;
  /** Housekeeping: counters, room for coming days, retention. Cheap; called about once a second by every server. */
  maintain(): Promise<void>;
  /**
   * Calls the listener when a job may have become ready in `queue`, or when something else may call for a look (`null`):
   * a job was scheduled, or is to be cancelled.
   * A hint only: it may be late, missing or needless. Returns the function that ends the subscription.
   */
  onWakeUp(listener: (queue: string | null) => void): () => void;
}

export interface ServerDescription {
  readonly host: string;
  readonly pid: number;
  readonly queues: readonly string[];
  /** The names that it has handlers for: it is handed jobs of these names only. Left out, it is handed jobs of any name. */
  readonly jobNames?: readonly string[];
  readonly concurrency: number;
  /** Silence of this many milliseconds and the server counts as dead; a heartbeat goes out each third of it. */
  readonly timeoutMs: number;
}

/** A server's place among the living. */
export interface ServerRegistration {
  readonly id: string;
  /** Aborts when the storage says that this server has been declared dead. */
  readonly lost: AbortSignal;
  /** Tells people how many jobs this server runs; goes out with the next heartbeat. */
  report(processing: number): void;
  /** Tells people what this server does; goes out with the next heartbeat. `running` until then. */
  enter(state: ServerState): void;
  /** Takes the server off the list; claims that it still holds go back to their queues. */
  unregister(): Promise<void>;
}

export interface ServerRegistry {
  /**
   * Adds a server and keeps its heartbeat going, even while the caller's event loop is blocked.
   *
   * @param onRequest is told what an operator asks of this server, once each
   */
  registerServer(
    description: ServerDescription,
    onRequest?: (request: ServerRequest) => void,
  ): Promise<ServerRegistration>;
}

export interface JobListQuery {
  readonly filter?: JobFilter;
  /** Of creation. `newest` by default. */
  readonly order?: 'newest' | 'oldest';
  readonly limit: number;
  /** Rows to pass over; 0 by default. */
  readonly offset?: number;
  /** Only jobs that come after the one with this id in the chosen order: paging that costs the same on every page. */
  readonly after?: string;
  /** `listNearJobs` has told that the nearest jobs are not all of this list: they are not gone through again first. `false` by default. */
  readonly beyondNear?: boolean;
}

export interface JobPageQuery extends Omit<JobListQuery, 'beyondNear'> {
  /** `false`: arguments and results are not read; both are `null`. `true` by default. */
  readonly documents?: boolean;
  /** The page ends before the arguments and results on it take more bytes as JSON, though not before its first job. */
  readonly maxBytes: number;
}

export interface JobPage {
  readonly jobs: Job[];
  /** The page has ended because of its bytes: more jobs follow the last one. */
  readonly cut: boolean;
}

export interface ContinuationPage {
  readonly limit?: number;
  readonly after?: string;
}

/** What a look at the nearest jobs gave. */
export interface NearJobs {
  readonly jobs: Job[];
  /** `false`: there may be more that match, and nearer ones than the last of these; `listJobs` tells. */
  readonly complete: boolean;
}

/** Reads that have a home of their own. */
export type TopicalReader = BatchReader & FailedJobsReader & JobLogReader & LivenessReader;

/** What people look at. Reads may lag a moment behind writes; they never block them. */
export interface JobReader extends TopicalReader {
  /** `null` if there is no such job; an id that is not a UUID is no job's id. A caller's transaction sees what it has written. */
  findJob(id: string, transaction?: TransactionClient): Promise<Job | null>;
  /** As it is stored, to the last digit; `null` if there is no such job. */
  findDocuments(jobId: string): Promise<JobDocuments | null>;
  listJobs(query: JobListQuery): Promise<Job[]>;
  /** The same, as much of it as fits: whatever the jobs carry, a page takes a bounded amount of memory. */
  listJobPage(query: JobPageQuery): Promise<JobPage>;
  /**
   * The same, but only among the first few thousand jobs of each state in the order of the list: at once, however many there
   * are and however rare what is sought.
   */
  listNearJobs(query: JobListQuery): Promise<NearJobs>;
  /** Counts without scanning when the filter names only states and queues; otherwise up to 10 000. */
  countJobs(filter?: JobFilter): Promise<JobCount>;
  /** The same for each state by itself, at a lower cost than asking for one after the other. */
  countJobsByState(filter?: JobFilter): Promise<Record<JobState, JobCount>>;
  /** Totals over all queues. */
  stateCounts(): Promise<StateCounts>;
  /** Oldest first; empty for a job that has not started or is unknown. */
  listAttempts(jobId: string): Promise<Attempt[]>;
  /**
   * The jobs that wait or waited for this job or batch, oldest first: at most `limit` (100 by default), and only those
   * after the one with the id `after`. Known for at least 30 days.
   */
  listContinuations(id: string, page?: ContinuationPage): Promise<Job[]>;
  /** `null` if there is none. */
  findQueue(name: string): Promise<Queue | null>;
  /** By name. */
  listQueues(): Promise<Queue[]>;
  /** Running servers, oldest first. */
  listServers(): Promise<Server[]>;
  /** Jobs that nobody will run unless a server comes that does. */
  listOrphans(): Promise<Orphan[]>;
  /** Resolves if the storage answers. */
  ping(): Promise<void>;
}
