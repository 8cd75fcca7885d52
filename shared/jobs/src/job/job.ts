import { bounds, checkDelay, checkInteger, checkTime } from './bounds.js';
import type { After } from './continuation.js';
import type { JobKey } from './job-key.js';
import type { Progress } from './job-log.js';
import type { JobError } from './job-error.js';
import type { JsonText, JsonValue } from './json.js';
import type { JobMetaFields, JobMeta } from './meta.js';
import type { RateLimit } from './queue-limits.js';
import type { ServerRequest, ServerState } from './server-state.js';
import type { JobState } from './state.js';

export type { JobError } from './job-error.js';
export type { JsonText, JsonValue } from './json.js';

/** One unit of work as people read it: in the API, on the dashboard, in a test. */
export interface Job extends JobMetaFields {
  /** UUIDv7: sorts by the time of creation. */
  id: string;
  /** The name of its definition, which finds its handler. */
  name: string;
  queue: string;
  state: JobState;
  /** Lower runs first; −100 to 100, 0 by default. */
  priority: number;
  args: JsonValue;
  /** What the handler returned; `null` until the job is done. */
  result: JsonValue;
  /** Why the latest attempt failed; `null` when none has, or when a later one succeeded. */
  error: JobError | null;
  /** The number of the current or latest attempt; 0 before the first. */
  attempt: number;
  /** After this many attempts a failure is final. */
  maxAttempts: number;
  createdAt: Date;
  /** When a scheduled job becomes ready; `null` for a job that never waited for a time. */
  runAt: Date | null;
  /** When an enqueued job last became ready; `null` in every other state, and while its concurrency key holds it back. */
  readyAt: Date | null;
  /** When the current or latest attempt began. */
  startedAt: Date | null;
  finishedAt: Date | null;
  /** What the attempt that runs, or that ended the job, last said; `null` if nothing, or while the job waits. */
  progress: Progress | null;
  /** The server that runs it, or ran it last. */
  serverId: string | null;
  /**
   * Members whose stored value cannot be interpreted, a time after 9999 for example, and are shown as the nearest that can, or as
   * nothing. Left out by every other job.
   */
  unreadable?: string[];
}

/** What a job was given and what it returned, as text: its numbers may have more digits than a JavaScript number holds. */
export interface JobDocuments {
  readonly args: JsonText;
  /** `null`, the JSON, until the job is done. */
  readonly result: JsonText;
}

/** A job on its way into the storage: checked, complete, with its id assigned by the client. */
export interface NewJob {
  id: string;
  name: string;
  queue: string;
  priority: number;
  args: JsonText;
  maxAttempts: number;
  /** Not before this; `null` means at once. */
  due: Due | null;
  /** What it waits for, if for anything. Milliseconds in `due` then count from the end of the last parent. */
  after?: After | null;
  /** Left out by the plain job. */
  meta?: JobMeta | null;
  /** Keys that it is to hold, the most important first: if another job holds one, this one is not created. */
  keys?: readonly JobKey[] | null;
  /**
   * The queues that the enqueuing caller can see; all of them if left out. A parent elsewhere counts as unknown, and so does
   * a batch as a parent, unless it comes in the same call. Not stored.
   */
  scope?: readonly string[] | null;
  /** The result must include the job that holds its key; if that one is deleted or out of scope, the whole call is rejected. Not stored. */
  showsHolder?: boolean;
}

/** A time on the calendar, or milliseconds from now by the storage's clock, which the client's may differ from. */
export type Due = { readonly at: Date } | { readonly inMs: number };

/**
 * Checks the bounds of a new job. Every storage calls it, so that no client can bypass them.
 *
 * @throws {RangeError} if its priority, its number of attempts or its time is out of its bounds
 */
export function checkNewJob({ priority, maxAttempts, due }: NewJob): void {
  checkInteger('A priority', priority, bounds.priority);
  checkInteger('maxAttempts', maxAttempts, bounds.maxAttempts);
  if (due === null) return;
  if ('at' in due) checkTime('runAt', due.at);
  else checkDelay('delayMs', due.inMs);
}

/** How an attempt ended. `lost`: its server died or stopped renewing its lease. */
export type AttemptOutcome = 'processing' | 'done' | 'failed' | 'cancelled' | 'lost';

/** One run of a job. */
export interface Attempt {
  /** 1 for the first. */
  attempt: number;
  outcome: AttemptOutcome;
  serverId: string;
  startedAt: Date;
  /** `null` while it runs. */
  finishedAt: Date | null;
  error: JobError | null;
}

/**
 * A server's lease on one attempt of one job. Every later write names it: the storage changes nothing
 * unless this server still holds this attempt (a fencing token, as in Kleppmann, “How to do distributed
 * locking”, 2016).
 */
export interface Claim {
  readonly jobId: string;
  readonly queue: string;
  readonly serverId: string;
  readonly attempt: number;
}

/** A job handed to a server, with the claim that lets it write. */
export interface ClaimedJob {
  readonly claim: Claim;
  readonly name: string;
  readonly priority: number;
  readonly args: JsonValue;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  readonly meta: JobMeta | null;
}

/**
 * What became of a claimed job. `retry` sends it back to wait `delayMs` milliseconds for its next attempt; `snooze` does
 * too, but the attempt does not count.
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
  /** Whether the claimed job had metadata. Only a hint that saves a look-up: dependents may have been added since. */
  readonly hasMeta?: boolean;
}

/** A process that takes jobs and runs them. */
export interface Server {
  /** UUIDv7, new at every start. */
  id: string;
  host: string;
  pid: number;
  queues: string[];
  /** The names that it has handlers for; `null` if it did not say. */
  jobNames: string[] | null;
  /** How many jobs it runs at once. */
  concurrency: number;
  /** How many jobs it holds now. */
  processing: number;
  /** As it said with its last heartbeat. */
  state: ServerState;
  /** What it was asked for, and will do when its next heartbeat has told it; `null` for nothing. */
  requested: ServerRequest | null;
  startedAt: Date;
  heartbeatAt: Date;
  /** Silence of this many milliseconds and it counts as dead. */
  timeoutMs: number;
  /** How far its clock is ahead of the storage's, negative if it is behind; `null` until its heartbeats have measured it. */
  clockAheadMs: number | null;
}

/** A server that was declared dead. */
export interface LostServer extends Pick<Server, 'id' | 'host' | 'pid' | 'processing' | 'heartbeatAt'> {
  /** When it was declared dead, and what it ran was taken back. */
  lostAt: Date;
}

/** How many jobs of a queue are in each state. */
export type StateCounts = Record<JobState, number>;

/** A named line of jobs. */
export interface Queue {
  name: string;
  counts: StateCounts;
  /** Since when servers take no jobs from it; `null` if they do. */
  pausedAt: Date | null;
  /** At most so many of its jobs run at once, over all servers; `null` for no limit. */
  concurrencyLimit: number | null;
  /** So many of its jobs start in a time, over all servers; `null` for no limit. */
  rateLimit: Required<RateLimit> | null;
  /**
   * When the ready job that waits longest became ready, whatever its priority; `null` if none is. A job that was taken back
   * from a server that was lost waits since then.
   */
  oldestEnqueuedAt: Date | null;
  /** Running servers that take jobs from it. */
  servers: number;
  createdAt: Date;
}
