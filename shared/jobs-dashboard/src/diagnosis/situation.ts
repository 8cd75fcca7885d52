import type { Job } from '@longshore/jobs';
import { maxSetAside } from '@longshore/jobs/storage';
import { MAX_FAILURES } from './alert-failures.js';
import { recently } from './recent-failures.js';
import { findLate } from './late-recurring.js';
import { stalledQuery } from './stalled-leases.js';
import type { Situation } from './warnings.js';
import { totalOf } from '../format/chart.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { listLongest } from '../reading/longest-jobs.js';
import { readCommonFailures } from './common-failures.js';
import { findFailingRecurring, findMissed } from './failing-recurring.js';
import { findFailingTypes } from './failing-types.js';
import { findPausedJobs } from './paused-types.js';

const FEW_JOBS = 5;

type Reader = ReadingContext['reader'];

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
    failingTypes,
    failingRecurring,
    blocking,
    pausedJobs,
    recurring,
    setAside,
    alertFailures,
    clockAheadMs,
  ] = await Promise.all([
    reader.queues.list(),
    reader.servers.list(),
    longestRunningJobs(reader),
    reader.jobs.listOrphans(),
    reader.leases.listStalled(stalledQuery),
    reader.servers.listLost(),
    reader.statistics.throughput(recently),
    findFailingTypes(reader),
    findFailingRecurring(context),
    reader.queues.listBlockingKeys(),
    findPausedJobs(reader),
    reader.recurring.list(),
    reader.setAside.list({ limit: maxSetAside }),
    reader.alerts.listFailures(MAX_FAILURES),
    readClockAhead(context),
  ]);
  const total = totalOf(ended);
  const recent = { ...total, common: await readCommonFailures(total, queues, reader) };
  const nowMs = now();
  const [late, missed] = await Promise.all([
    findLate(recurring, nowMs, reader),
    findMissed(recurring, reader),
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
    recent,
    failingTypes,
    failingRecurring,
    blocking,
    pausedJobs,
    setAside,
    alertFailures,
    clockAheadMs,
    nowMs,
  };
}

export function latestFailed(reader: Reader): Promise<Job[]> {
  return reader.jobs.listLatestFailed({ limit: FEW_JOBS });
}

export function longestRunningJobs(reader: Reader): Promise<Job[]> {
  return listLongest('processing', {}, FEW_JOBS, reader);
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
