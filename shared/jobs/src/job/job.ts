import { bounds, checkDelay, checkInteger, checkTime } from './bounds.js';
import type { After } from './continuation.js';
import type { JobKey } from './job-key.js';
import type { PauseState } from './pause.js';
import type { Progress } from './job-log.js';
import type { JobError } from './job-error.js';
import type { JsonText, JsonValue } from './json.js';
import type { JobMetaFields, JobMeta } from './meta.js';
import type { QueueInCode } from './queue-in-code.js';
import type { RateLimit } from './queue-limits.js';
import type { JobState } from './state.js';
import type { AwaitedSignals } from './step.js';

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
  /** The name of the job definition. Servers use it to find the handler. */
  name: string;
  queue: string;
  state: JobState;
  /** −100 to 100; jobs with lower values run first. 0 by default. */
  priority: number;
  args: Args;
  /** The handler's return value; `null` until the job is done. */
  result: Result | null;
  /**
   * Why the latest attempt failed, was lost or was cancelled, or why the job was skipped. `null` if there is no error
   * or the job is done.
   */
  error: JobError | null;
  /** The number of the current or latest attempt; 0 before the first. */
  attempt: number;
  /** Maximum number of attempts. A failure of the last attempt is final. */
  maxAttempts: number;
  createdAt: Date;
  /**
   * The time for which the job was last scheduled: by its enqueuer, an operator, a retry or a snooze. `null` if there
   * is none. Stays set after the job becomes ready.
   */
  runAt: Date | null;
  /**
   * Delay in milliseconds of a job that waits for others, counted from the end of the last one. `null` if there is
   * none, or if the delay has started; `runAt` is then the time at which it ends.
   */
  delayMs: number | null;
  /** When the job became ready. `null` if the job is blocked or in a state other than `enqueued`. */
  readyAt: Date | null;
  /** When the current or final attempt started; `null` if there is no such attempt, for example before a retry. */
  startedAt: Date | null;
  finishedAt: Date | null;
  /**
   * The latest progress of the current or final attempt; `null` if there is no such attempt or it reported no progress.
   */
  progress: Progress | null;
  /** Id of the server that runs the current attempt or ran the final one; `null` if there is no such attempt. */
  serverId: string | null;
  /**
   * When someone asked to cancel the running job. Set until the job has ended; `null` if nobody has asked, and for jobs
   * that have ended.
   */
  cancelRequestedAt: Date | null;
  /** The reason that was given with that request; `null` if there is none. */
  cancelReason: string | null;
  /**
   * Names of the members with an invalid stored value, such as a time after the year 9999. These members contain the
   * nearest valid value or are empty. Absent if all stored values are valid.
   */
  unreadable?: string[];
}

/**
 * A job's arguments and result as JSON text. The text preserves numbers with more digits than JavaScript can represent.
 */
export interface JobDocuments {
  readonly args: JsonText;
  /** JSON `null` until the job is done. */
  readonly result: JsonText;
}

/** A job to store: validated and complete, with an id from the client. */
export interface NewJob {
  id: string;
  name: string;
  queue: string;
  priority: number;
  args: JsonText;
  maxAttempts: number;
  /** When the job becomes ready; `null` for immediately. */
  due: Due | null;
  /** The dependencies; absent or `null` if there are none. A delay in `due` starts when the last parent ends. */
  after?: After | null;
  /** Tags, limits, and links to other jobs; absent or `null` if the job has none. */
  meta?: JobMeta | null;
  /**
   * The keys for the job to hold. If another job already holds one of them, this job is not created. If several keys
   * are taken, the first one in the list determines the result.
   */
  keys?: readonly JobKey[] | null;
  /**
   * The queues that the caller can see; absent or `null` for all queues. If set, parents in other queues and all
   * batches count as unknown. Parents that are enqueued in the same call are exempt. Not stored.
   */
  visibleQueues?: readonly string[] | null;
  /**
   * Whether the result includes the other job that already holds one of the keys; `false` by default. If that job was
   * deleted or the caller cannot see it, the whole call is rejected. Not stored.
   */
  includesHolder?: boolean;
}

/**
 * When a job becomes ready: at a point in time, or after a delay in milliseconds. Uses the storage's clock, because the
 * client's clock may be wrong.
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

/** How an attempt ended: `processing` while it is running, `lost` if the server died or stopped renewing the lease. */
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
 * A server's lease on one attempt of one job. Every later write carries the claim. If the server has lost the lease on
 * this attempt, the write changes nothing. The claim is therefore a fencing token (see Kleppmann, “How to do
 * distributed locking”, 2016).
 */
export interface Claim {
  readonly jobId: string;
  readonly queue: string;
  readonly serverId: string;
  readonly attempt: number;
}

/** A claimed job, with the claim that later writes must carry. */
export interface ClaimedJob {
  readonly claim: Claim;
  readonly name: string;
  readonly priority: number;
  readonly args: JsonValue;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  /**
   * When the job was due for this attempt: when it was created, or its `runAt`, the end of its parents, the loss of its last
   * attempt, or an operator's action, whichever came last. The job may have been blocked after that.
   */
  readonly dueAt: Date;
  /** When the job became ready for this attempt. */
  readonly readyAt: Date;
  readonly meta: JobMeta | null;
}

/**
 * The outcome of an attempt. `retry` schedules the next attempt after `delayMs` milliseconds. `snooze` also does this,
 * but the snoozed attempt does not count. `suspend` schedules the job for the time at which its handler goes on at the
 * latest, and does not count either: if all signals of one name that it awaits have arrived, the job is ready at once.
 */
export type Outcome =
  | { readonly kind: 'done'; readonly result: JsonText }
  | { readonly kind: 'failed'; readonly error: JobError }
  | { readonly kind: 'cancelled'; readonly error: JobError }
  | { readonly kind: 'snooze'; readonly delayMs: number }
  | SuspendOutcome
  | { readonly kind: 'retry'; readonly error: JobError; readonly delayMs: number };

/** The outcome of an attempt whose handler only waits. */
export interface SuspendOutcome {
  readonly kind: 'suspend';
  /** When the handler goes on at the latest. */
  readonly until: Date;
  readonly awaits: AwaitedSignals;
  /** The jobs that it waits for and that are cancelled with it. */
  readonly cancels: readonly string[];
}

export interface Completion {
  readonly claim: Claim;
  readonly outcome: Outcome;
  /**
   * Whether the job had metadata when it was claimed; `false` by default. This hint makes the write faster. It can be
   * outdated, because enqueuing a dependent adds metadata to the job.
   */
  readonly hasMeta?: boolean;
}

/** A registered server. It claims jobs and runs their handlers. */
export interface Server {
  /** UUIDv7, new with every registration. */
  id: string;
  host: string;
  pid: number;
  queues: string[];
  /** The weights of `queues`, in the same order; `null` if the server polls its queues in strict order. */
  queueWeights: number[] | null;
  /** Names of the jobs that the server has handlers for; `null` if it registered no names and claims any job. */
  jobNames: string[] | null;
  /** The version of the server's application; `null` if the server did not report one. */
  version: string | null;
  /** Maximum number of jobs that the server runs at once. */
  concurrency: number;
  /** Number of running jobs at the latest heartbeat. */
  processing: number;
  /** The state at the latest heartbeat. */
  state: ServerState;
  /**
   * An operator's request; `null` if there is none. The server receives the request with its next heartbeat at the
   * latest.
   */
  requested: ServerRequest | null;
  startedAt: Date;
  heartbeatAt: Date;
  /** Milliseconds without a heartbeat after which the server is declared dead. */
  timeoutMs: number;
  /**
   * How many milliseconds the server's clock is ahead of the storage's clock; negative if it is behind. `null` until
   * heartbeats have measured the difference.
   */
  clockAheadMs: number | null;
}

/** A server that was declared dead. */
export interface LostServer extends Pick<Server, 'id' | 'host' | 'pid' | 'heartbeatAt'> {
  /** Number of attempts that were lost with the server. Starts at 0, and rises as the server's jobs are reclaimed. */
  processing: number;
  /** When the server was declared dead. */
  lostAt: Date;
}

export type StateCounts = Record<JobState, number>;

/** A queue, with its settings and job counts. */
export interface Queue extends PauseState {
  name: string;
  counts: StateCounts;
  /** Maximum number of the queue's jobs that run at once, across all servers; `null` if there is no limit. */
  concurrencyLimit: number | null;
  /** Maximum rate at which the queue's jobs start, across all servers; `null` if there is no limit. */
  rateLimit: Required<RateLimit> | null;
  /** The settings that an application defines in code; `null` if none does. */
  inCode: QueueInCode | null;
  /**
   * When the longest-waiting ready job became ready, whatever its priority; `null` if no job is ready. After a lost
   * attempt, a job's wait starts again when the job is put back into the queue.
   */
  oldestEnqueuedAt: Date | null;
  /** Number of servers in the state `running` that consume the queue. */
  servers: number;
  createdAt: Date;
}

/** An operator's request to a server: `quiet` to stop claiming jobs, `stop` to shut down. */
export type ServerRequest = 'quiet' | 'stop';

/**
 * All server states:
 *
 * - `running`: claims and runs jobs
 * - `quiet`: claims no new jobs, but finishes its running jobs
 * - `stopping`: shuts down when its jobs have finished or `stopTimeoutMs` has passed
 */
export const serverStates = ['running', 'quiet', 'stopping'] as const;

export type ServerState = (typeof serverStates)[number];
