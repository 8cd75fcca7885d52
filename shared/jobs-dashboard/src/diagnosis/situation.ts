import type { Job, RecurringJob } from '@longshore/jobs';
import { maxSetAside } from '@longshore/jobs/storage';
import { recently } from './recent-failures.js';
import { lateAmong, withoutReason } from './late-recurring.js';
import { stalledQuery } from './stalled-leases.js';
import type { Situation } from './warnings.js';
import { totalOf } from '../format/chart.js';
import type { PageContext } from '../pages/page.js';
import { readClockAhead } from './clock-ahead.js';
import { readCommonFailures } from './common-failures.js';
import { findFailingTypes } from './failing-types.js';

const FEW_JOBS = 5;

type Reader = PageContext['reader'];

/** Reads everything that warnings depend on. */
export async function readSituation(
  context: Pick<PageContext, 'reader' | 'now' | 'machineNow'>,
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
    recurring,
    setAside,
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
    reader.recurring.list(),
    reader.setAside.list({ limit: maxSetAside }),
    readClockAhead(context),
  ]);
  const total = totalOf(ended);
  const recent = { ...total, common: await readCommonFailures(total, queues, reader) };
  const nowMs = now();
  const late = await lateOf(recurring, nowMs, reader);
  return {
    queues,
    servers,
    longestRunning,
    orphans,
    stalled,
    lost,
    late,
    recent,
    failingTypes,
    setAside,
    clockAheadMs,
    nowMs,
  };
}

/** Returns the recurring jobs that are late without waiting for their previous job. Reads only the jobs needed for that. */
async function lateOf(
  recurring: readonly RecurringJob[],
  nowMs: number,
  reader: Reader,
): Promise<RecurringJob[]> {
  const late = lateAmong(recurring, nowMs);
  const ids = late.flatMap(({ overlap, lastJobId }) =>
    overlap === 'wait' && lastJobId !== null ? [lastJobId] : [],
  );
  if (ids.length === 0) return late;
  const { jobs } = await reader.jobs.listBrief({ filter: { id: ids }, limit: ids.length });
  return withoutReason(late, jobs);
}

export function latestFailed(reader: Reader): Promise<Job[]> {
  return reader.jobs.listLatestFailed({ limit: FEW_JOBS });
}

export async function longestRunningJobs(reader: Reader): Promise<Job[]> {
  const filter = { state: ['processing'] } as const;
  return (await reader.jobs.listBrief({ filter, order: 'oldest', limit: FEW_JOBS })).jobs;
}
