import { bounds, checkDelay, checkInteger, checkTime } from './bounds.js';
import type { After } from './continuation.js';
import type { JobKey } from './job-key.js';
import type { PauseState } from './pause.js';
import type { Progress } from './job-log.js';
import type { JobError } from './job-error.js';
import type { JsonText, JsonValue } from './json.js';
import type { JobMetaFields, JobMeta } from './meta.js';
import type { RateLimit } from './queue-limits.js';
import type { ServerRequest, ServerState } from './server-state.js';
import type { JobState } from './state.js';

export type { JobError } from './job-error.js';
export type { JsonText, JsonValue } from './json.js';

/**
 * One unit of work, as the client and the storage return it.
 *
 * @typeParam Args the type of the arguments; any JSON value if the definition is not known
 * @typeParam Result the type of the result; any JSON value if the definition is not known
 */
export interface Job<Args = JsonValue, Result = JsonValue> extends JobMetaFields {
  /** UUIDv7, which sorts by creation time. */
  id: string;
  /** The name of the job definition. A server finds the handler by this name. */
  name: string;
  queue: string;
  state: JobState;
  /** −100 to 100; jobs with lower values run first. 0 by default. */
  priority: number;
  args: Args;
  /** The handler's return value; `null` until the job is done. */
  result: Result | null;
  /**
   * Why the latest attempt failed, was lost or was cancelled, or why the job was skipped; `null` if there is no such
   * error, or a later attempt succeeded.
   */
  error: JobError | null;
  /** The number of the current or latest attempt; 0 before the first. */
  attempt: number;
  /** After this many attempts, a failure is final. */
  maxAttempts: number;
  createdAt: Date;
  /**
   * The latest time for which the job was scheduled, by its enqueuer, an operator, a retry or a snooze; `null` if there
   * is none. Kept after the job has become ready.
   */
  runAt: Date | null;
  /** When an enqueued job became ready; `null` in every other state, and while its concurrency key blocks the job. */
  readyAt: Date | null;
  /** When the current or final attempt started; `null` if there is none, for example while the job waits to run. */
  startedAt: Date | null;
  finishedAt: Date | null;
  /** The latest progress of the current or final attempt; `null` if none was reported or there is no such attempt. */
  progress: Progress | null;
  /** The id of the server that runs the job or ran its final attempt; `null` if there is no such attempt. */
  serverId: string | null;
  /**
   * Names of the members with an invalid stored value, such as a time after the year 9999. Each of these members
   * contains the nearest valid value or is empty. Absent if all values are valid.
   */
  unreadable?: string[];
}

/**
 * A job's arguments and result as JSON text, which preserves numbers with more digits than JavaScript can represent.
 */
export interface JobDocuments {
  readonly args: JsonText;
  /** JSON `null` until the job is done. */
  readonly result: JsonText;
}

/** A job to store: validated and complete, with an id assigned by the client. */
export interface NewJob {
  id: string;
  name: string;
  queue: string;
  priority: number;
  args: JsonText;
  maxAttempts: number;
  /** The earliest start; `null` for immediately. */
  due: Due | null;
  /** The dependencies; absent or `null` if there are none. A delay in `due` starts when the last parent has ended. */
  after?: After | null;
  /** Optional properties; `null` or absent if the job has none. */
  meta?: JobMeta | null;
  /**
   * The keys that the job will hold. If another job already holds one of them, this job is not created. If several are
   * already held, the first one in the list determines the result.
   */
  keys?: readonly JobKey[] | null;
  /**
   * The queues that the caller can see; all queues if absent or `null`. If set, parents in other queues and all batches
   * are treated as unknown, except those that are enqueued by the same call. Not stored.
   */
  visibleQueues?: readonly string[] | null;
  /**
   * Whether to return the existing job if it already holds one of the keys. The whole call is then rejected if the
   * existing job was deleted or is not visible to the caller. Not stored. `false` by default.
   */
  showsHolder?: boolean;
}

/**
 * When a job becomes ready: at a point in time, or after a delay in milliseconds. The storage's clock decides,
 * because the client's may be wrong.
 */
export type Due = { readonly at: Date } | { readonly inMs: number };

/**
 * Checks the bounds of a new job. Every storage implementation calls this, so that no client can bypass the checks.
 *
 * @throws {RangeError} if the priority, the number of attempts or the time is out of bounds
 */
export function checkNewJob({ priority, maxAttempts, due }: NewJob): void {
  checkInteger('A priority', priority, bounds.priority);
  checkInteger('maxAttempts', maxAttempts, bounds.maxAttempts);
  if (due === null) return;
  if ('at' in due) checkTime('runAt', due.at);
  else checkDelay('delayMs', due.inMs);
}

/** How an attempt ended; `processing` while it is running, `lost` if its server died or stopped renewing its lease. */
export type AttemptOutcome = 'processing' | 'done' | 'failed' | 'cancelled' | 'lost';

/** One run of a job. */
export interface Attempt {
  /** Number of the attempt, starting at 1. */
  attempt: number;
  outcome: AttemptOutcome;
  serverId: string;
  startedAt: Date;
  /** `null` while the attempt is running. */
  finishedAt: Date | null;
  error: JobError | null;
}

/**
 * A server's lease on one attempt of one job. Every later write carries the claim, and the storage changes nothing
 * unless the server still has the lease on this attempt. The claim is therefore a fencing token (see Kleppmann, “How to
 * do distributed locking”, 2016).
 */
export interface Claim {
  readonly jobId: string;
  readonly queue: string;
  readonly serverId: string;
  readonly attempt: number;
}

/** A claimed job, with the claim that fences its writes. */
export interface ClaimedJob {
  readonly claim: Claim;
  readonly name: string;
  readonly priority: number;
  readonly args: JsonValue;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  /** When the job became ready for this attempt. */
  readonly readyAt: Date;
  readonly meta: JobMeta | null;
}

/**
 * The outcome of an attempt. `retry` schedules the next attempt after `delayMs` milliseconds; `snooze` does the same,
 * but the attempt that just ended does not count.
 */
export type Outcome =
  | { readonly kind: 'done'; readonly result: JsonText }
  | { readonly kind: 'failed'; readonly error: JobError }
  | { readonly kind: 'cancelled'; readonly error: JobError }
  | { readonly kind: 'snooze'; readonly delayMs: number }
  | { readonly kind: 'retry'; readonly error: JobError; readonly delayMs: number };

export interface Completion {
  readonly claim: Claim;
  readonly outcome: Outcome;
  /**
   * Whether the job had metadata when it was claimed; `false` by default. Only a hint that makes the write faster: a
   * job can get metadata later, when other jobs are made to depend on it.
   */
  readonly hasMeta?: boolean;
}

/** A registered server, which claims jobs and runs their handlers. */
export interface Server {
  /** UUIDv7, new with every registration. */
  id: string;
  host: string;
  pid: number;
  queues: string[];
  /** The weights of `queues`, in the same order; `null` if the server polls its queues in strict order. */
  queueWeights: number[] | null;
  /** Names of the jobs for which it has handlers; `null` if it registered no names, so that it claims any job. */
  jobNames: string[] | null;
  /** The version of its application; `null` if it did not report one. */
  version: string | null;
  /** Maximum number of jobs that it runs at once. */
  concurrency: number;
  /** Number of jobs that it was running at its latest heartbeat. */
  processing: number;
  /** As of its latest heartbeat. */
  state: ServerState;
  /** An operator's request; the server receives it with its next heartbeat at the latest. `null` if there is none. */
  requested: ServerRequest | null;
  startedAt: Date;
  heartbeatAt: Date;
  /** Milliseconds without a heartbeat after which it is declared dead. */
  timeoutMs: number;
  /**
   * Milliseconds by which its clock is ahead of the storage's clock, negative if it is behind; `null` until heartbeats
   * have measured this.
   */
  clockAheadMs: number | null;
}

/** A server that was declared dead. */
export interface LostServer extends Pick<Server, 'id' | 'host' | 'pid' | 'heartbeatAt'> {
  /** Number of jobs that it was running when it was declared dead. */
  processing: number;
  /** When it was declared dead. Its jobs were reclaimed at the same time. */
  lostAt: Date;
}

/** Number of jobs in each state. */
export type StateCounts = Record<JobState, number>;

/** A named, ordered list of jobs. */
export interface Queue extends PauseState {
  name: string;
  counts: StateCounts;
  /** Maximum number of the queue's jobs that run at once, across all servers; `null` if there is no limit. */
  concurrencyLimit: number | null;
  /** Maximum rate at which the queue's jobs start, across all servers; `null` if there is no limit. */
  rateLimit: Required<RateLimit> | null;
  /**
   * When the longest-waiting ready job became ready, whatever its priority; `null` if no job is ready. A job whose
   * attempt was lost counts from the time when it was reclaimed.
   */
  oldestEnqueuedAt: Date | null;
  /** Number of servers in the state `running` that consume the queue. */
  servers: number;
  createdAt: Date;
}
