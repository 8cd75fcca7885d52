import type { EventTopic, JobEvent } from '../job/job-event.js';

export interface FeedRequest {
  /** Where to begin: what an earlier read called settled. `null`: only to learn where the feed stands. */
  readonly since: Date | null;
  /** Stop this many milliseconds after `since`, for one who is far behind; by default, read up to now. */
  readonly spanMs?: number;
  /** What is of interest: looking for less is cheaper. */
  readonly topics: readonly EventTopic[];
}

export interface FeedPage {
  /** What happened at `since` or later, oldest first. */
  readonly events: JobEvent[];
  /**
   * Where to go on: nothing that happened before this time can come to light any more. Some of the events may be younger;
   * they will come again.
   */
  readonly settled: Date;
  /** `false`: more is there to be read at once. */
  readonly caughtUp: boolean;
}

/**
 * What happened to jobs, in the order of time, read from what is stored about them: nothing is written for it. Every end of a
 * job and every start of an attempt is told, by whichever process and however long it took to commit; the other events as
 * `stateEventsOf` says, an attempt that was lost not before the next one starts.
 *
 * Whoever keeps `settled` and goes on from there misses nothing, in this process or in another, and may get some events twice.
 * Jobs that have been deleted are not told of.
 */
export interface JobFeed {
  read(request: FeedRequest): Promise<FeedPage>;
  /** What the attempts of one job have said at that time or later, oldest first: of progress the last word, and the log. */
  saidBy(jobId: string, since: Date): Promise<JobEvent[]>;
}
