import type { Job, RecurringJob } from '@longshore/jobs';
import {
  type AlertMessage,
  type BlockingKeys,
  type BulkOperation,
  type Lease,
  type LostServer,
  maxSetAside,
  type MissedRuns,
  type Orphan,
  type Queue,
  type Server,
  type SetAsideItem,
} from '@longshore/jobs/storage';
import { totalOf } from '../format/chart.js';
import type { Sentence } from '../format/sentence.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { listLongestRunning } from '../reading/job-search.js';
import { findPausedJobs, type PausedJobs } from './pause.js';
import { type FailureSample, readFailureSamples } from './failure-sample.js';
import {
  type FailingRecurring,
  findFailingRecurring,
  findLate,
  findMissed,
  findSkipped,
  type SkippedRuns,
} from './recurring.js';
import { readHoldingLimit } from './holding-limit.js';
import { type MeasuredRule, measureRules, withoutRuled } from './rules.js';
import { stalledQuery } from './servers.js';
import { findTypeHealth, type TypeHealth } from './type-health.js';

const FEW_JOBS = 5;
/** Number of the latest bulk operations among which pending deletions are looked for. */
const FEW_OPERATIONS = 20;
/** Maximum number of undelivered alerts to read. */
const MAX_FAILURES = 100;

/** The period that counts as recent, and the length of its buckets, in milliseconds. */
export const recently = { sinceMs: 10 * 60_000, bucketMs: 10_000 } as const;

export interface Situation {
  readonly queues: readonly Queue[];
  readonly servers: readonly Server[];
  /** Up to five running jobs, longest running first. */
  readonly longestRunning: readonly Job[];
  readonly orphans: readonly Orphan[];
  readonly stalled: readonly Lease[];
  readonly lost: readonly LostServer[];
  /** Recurring jobs that are late, except those that are waiting for their previous job. */
  readonly late: readonly RecurringJob[];
  /**
   * The latest missed run of each recurring job, if it was missed because no server was running. A run is left out once
   * a later run has come due.
   */
  readonly missed: readonly MissedRuns[];
  /** The numbers of jobs that finished recently, as defined by {@link recently}. */
  readonly recent: { readonly done: number; readonly failed: number };
  /** The job types that fail, or are slow. */
  readonly typeHealth: TypeHealth;
  /** The rules for warnings, and what they measure. */
  readonly rules: readonly MeasuredRule[];
  /** A sentence about the limit that holds back the jobs of the type that waits longest; `null` if none does. */
  readonly holdingLimit: Sentence | null;
  /** What the latest failures of failing job types tell, by type. */
  readonly failureSamples: ReadonlyMap<string, FailureSample>;
  /** Bulk deletions that have not begun and can be undone. */
  readonly pendingDeletions: readonly BulkOperation[];
  /** Paused recurring jobs that have skipped runs. */
  readonly skipped: readonly SkippedRuns[];
  readonly failingRecurring: readonly FailingRecurring[];
  readonly blocking: BlockingKeys;
  /** The paused job types that have waiting jobs, or might have some. */
  readonly pausedJobs: readonly PausedJobs[];
  /** Items that background roles have set aside, newest first. */
  readonly setAside: readonly SetAsideItem[];
  /** Alert messages whose delivery has failed, newest first. */
  readonly alertFailures: readonly AlertMessage[];
  /** How far the clock of this process is ahead of the storage’s, in milliseconds. */
  readonly clockAheadMs: number;
  /** The current time by the storage’s clock, in milliseconds since 1970. */
  readonly nowMs: number;
}

/** Reads everything that warnings are derived from. */
export async function readSituation(
  context: Pick<ReadingContext, 'reader' | 'cache' | 'now' | 'machineNow'>,
): Promise<Situation> {
  const { reader, now } = context;
  const [
    queues,
    servers,
    longestRunning,
    orphans,
    stalled,
    lost,
    ended,
    { typeHealth, failureSamples },
    failingRecurring,
    blocking,
    pausedJobs,
    recurring,
    setAside,
    alertFailures,
    operations,
    skipped,
    rules,
    clockAheadMs,
  ] = await Promise.all([
    reader.queues.list(),
    reader.servers.list(),
    listLongestRunning({}, FEW_JOBS, reader),
    reader.jobs.listOrphans(),
    reader.leases.listStalled(stalledQuery),
    reader.servers.listLost(),
    reader.statistics.throughput(recently),
    readTypeHealth(context),
    findFailingRecurring(context),
    reader.queues.listBlockingKeys(),
    findPausedJobs(reader),
    reader.recurring.list(),
    reader.setAside.list({ limit: maxSetAside }),
    reader.alerts.listFailures(MAX_FAILURES),
    reader.bulk.list({ limit: FEW_OPERATIONS }),
    findSkipped(context),
    measureRules(context),
    readClockAhead(context),
  ]);
  const nowMs = now();
  const [late, missed, holdingLimit] = await Promise.all([
    findLate(recurring, nowMs, reader),
    findMissed(recurring, reader),
    readHoldingLimit(withoutRuled(typeHealth, rules).slow, context),
  ]);
  return {
    queues,
    servers,
    longestRunning,
    orphans,
    stalled,
    lost,
    late,
    missed,
    recent: totalOf(ended),
    typeHealth,
    failureSamples,
    failingRecurring,
    blocking,
    pausedJobs,
    setAside,
    alertFailures,
    pendingDeletions: operations.filter(({ action, state }) => action === 'delete' && state === 'pending'),
    skipped,
    rules,
    holdingLimit,
    clockAheadMs,
    nowMs,
  };
}

async function readTypeHealth(
  context: Pick<ReadingContext, 'reader' | 'cache'>,
): Promise<Pick<Situation, 'typeHealth' | 'failureSamples'>> {
  const typeHealth = await findTypeHealth(context.reader);
  return { typeHealth, failureSamples: await readFailureSamples(typeHealth.failing, context) };
}

/**
 * Returns how far this process's clock is ahead of the storage's, in milliseconds; negative if it is behind. The error
 * is at most half of the time that the read takes. Used only for warnings, because pages show the storage's time.
 */
async function readClockAhead({
  reader,
  machineNow,
}: Pick<ReadingContext, 'reader' | 'machineNow'>): Promise<number> {
  const sentAtMs = machineNow();
  const storageMs = (await reader.readClock()).getTime();
  return Math.round((sentAtMs + machineNow()) / 2) - storageMs;
}

/** The lists that show whether the storage has been used. */
interface Traces {
  readonly queues: readonly Queue[];
  readonly servers: readonly Server[];
  readonly lost: readonly LostServer[];
}

/** Returns whether there are no queues, no servers and no lost servers, as in a new installation. */
export function isUntouched({ queues, servers, lost }: Traces): boolean {
  return queues.length + servers.length + lost.length === 0;
}
