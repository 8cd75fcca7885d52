import { isFinished, jobStates, type Queue, type Server } from '@longshore/jobs/storage';
import { failingTypeWarnings, findFailingTypes } from '../../diagnosis/failing-types.js';
import { queueStatus } from '../../diagnosis/queue-status.js';
import { isSilent } from '../../diagnosis/consumers.js';
import { type Bucket, totalOf } from '../../format/chart.js';
import { notFound } from '../../http/problem.js';
import { findJobs } from '../../reading/found-jobs.js';
import { jobRow } from '../job-row.js';
import type { Page, PageContext, PageRequest } from '../page.js';
import { lastHour, throughputRegion } from '../throughput.js';
import { trendsRegion } from '../trends/region.js';
import { queueRow } from '../queue-row.js';

const FEW_JOBS = 5;
const RATE_MINUTES = 5;
/** Number of ready jobs to examine for paused job types. */
const PAUSED_JOBS = 50;

const unfinishedStates = jobStates.filter((state) => !isFinished(state));

export async function queuePage({ params, query }: PageRequest, context: PageContext): Promise<Page> {
  const name = params['queue'] ?? '';
  await find(name, context);
  return {
    title: name,
    section: 'queues',
    view: 'page',
    kicker: { path: 'queues', text: 'Queues' },
    regions: [
      { name: 'queue', view: 'queue-state', everyMs: 2_000, load: () => loadState(name, context) },
      throughputRegion(context, name),
      trendsRegion(context, { path: `queues/${encodeURIComponent(name)}`, query, subject: { queue: name } }),
      { name: 'jobs', view: 'queue-jobs', everyMs: 5_000, load: () => loadJobs(name, context) },
    ],
  };
}

async function loadState(name: string, context: PageContext): Promise<object> {
  const [queue, queues, servers, buckets, pausedTypes, failingTypes] = await Promise.all([
    find(name, context),
    context.reader.queues.list(),
    context.reader.servers.list(),
    context.reader.statistics.throughput({ ...lastHour, queue: name }),
    pausedTypesIn(name, context),
    findFailingTypes(context.reader, name),
  ]);
  const consumers = servers.filter(({ queues }) => queues.includes(name));
  const nowMs = context.now();
  return {
    status: queueStatus(queue, consumers, nowMs, queues),
    queue: queueRow(queue),
    pausedTypes,
    warnings: failingTypeWarnings(failingTypes),
    perMinute: perMinute(buckets),
    limits: { concurrencyLimit: queue.concurrencyLimit, rateLimit: queue.rateLimit },
    isIdle: consumers.length === 0 && unfinishedStates.every((state) => queue.counts[state] === 0),
    states: jobStates,
    servers: consumers.map((server) => ({ ...placeOf(server), silent: isSilent(server, nowMs) })),
  };
}

/** Returns the names of paused job types among the next ready jobs of the queue. */
async function pausedTypesIn(queue: string, { reader }: PageContext): Promise<string[]> {
  const paused = await reader.jobTypes.listPaused();
  if (paused.length === 0) return [];
  const filter = { queue: [queue], state: ['enqueued'] as const, name: paused.map(({ name }) => name) };
  const { jobs } = await reader.jobs.listBrief({ filter, limit: PAUSED_JOBS, reach: 'near' });
  return [...new Set(jobs.map(({ name }) => name))].toSorted();
}

/** Returns what the page shows of a server, without the heartbeat, which changes every few seconds. */
function placeOf({ id, host, pid, state, requested, concurrency, processing }: Server): object {
  return { id, host, pid, state, requested, concurrency, processing };
}

/** Returns the jobs finished per minute, averaged over the last five complete minutes. */
function perMinute(buckets: readonly Bucket[]): number {
  const { done, failed } = totalOf(buckets.slice(-1 - RATE_MINUTES, -1));
  return (done + failed) / RATE_MINUTES;
}

async function loadJobs(name: string, context: PageContext): Promise<object> {
  const seek = (state: 'enqueued' | 'processing') =>
    findJobs(
      {
        key: JSON.stringify(['queue', name, state]),
        query: { filter: { queue: [name], state: [state] }, order: 'oldest', limit: FEW_JOBS },
        row: jobRow,
      },
      context,
    );
  const [enqueued, processing, failed] = await Promise.all([
    seek('enqueued'),
    seek('processing'),
    context.reader.jobs.listLatestFailed({ queue: name, limit: FEW_JOBS }),
  ]);
  return {
    enqueued: enqueued.jobs,
    processing: processing.jobs,
    failed: failed.map(jobRow),
  };
}

async function find(name: string, { reader }: PageContext): Promise<Queue> {
  const queue = await reader.queues.find(name);
  if (queue === null) {
    throw notFound(
      'There is no such queue',
      `There has never been a queue “${name}”, or it was deleted, or unused for a month. Its finished jobs are still in the list of jobs.`,
    );
  }
  return queue;
}
