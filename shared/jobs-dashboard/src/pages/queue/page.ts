import { type BlockingKey, isFinished, jobStates, type Queue, type Server } from '@longshore/jobs/storage';
import { failingTypeWarnings, findFailingTypes } from '../../diagnosis/failing-types.js';
import { blockedBy, readyJobs } from '../../diagnosis/blocking-keys.js';
import { findPausedJobs, pausedIn } from '../../diagnosis/paused-types.js';
import { queueStatus } from '../../diagnosis/queue-status.js';
import { isSilent } from '../../diagnosis/consumers.js';
import { type Bucket, totalOf } from '../../format/chart.js';
import { notFound } from '../../http/problem.js';
import { listLongest } from '../../reading/longest-jobs.js';
import { jobsPath, type Term } from '../../search/filters.js';
import { jobRow } from '../job-row.js';
import type { PageContext, PageRequest } from '../page.js';
import type { Page } from '../../shell/page.js';
import { lastHour, throughputRegion } from '../throughput.js';
import { trendsRegion } from '../trends/region.js';
import { queueRow } from '../queue-row.js';

const FEW_JOBS = 5;
const RATE_MINUTES = 5;
const FEW_KEYS = 10;

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
  const [queue, queues, servers, buckets, pausedJobs, blocking, failingTypes] = await Promise.all([
    find(name, context),
    context.reader.queues.list(),
    context.reader.servers.list(),
    context.reader.statistics.throughput({ ...lastHour, queue: name }),
    findPausedJobs(context.reader, name),
    context.reader.queues.listBlockingKeys(name),
    findFailingTypes(context.reader, name),
  ]);
  const consumers = servers.filter(({ queues }) => queues.includes(name));
  const nowMs = context.now();
  const waiting = pausedIn(name, pausedJobs);
  return {
    status: queueStatus(queue, consumers, nowMs, { queues, pausedJobs: waiting, blocking }),
    queue: queueRow(queue),
    ready: readyJobs(queue, blocking).count,
    blocked: blockedBy(blocking),
    blocking: blocking.keys.slice(0, FEW_KEYS).map(keyRow),
    moreKeys: Math.max(0, blocking.keys.length - FEW_KEYS),
    pausedTypes: waiting.map((type) => type.name),
    warnings: failingTypeWarnings(failingTypes),
    perMinute: perMinute(buckets),
    limits: { concurrencyLimit: queue.concurrencyLimit, rateLimit: queue.rateLimit },
    isIdle: consumers.length === 0 && unfinishedStates.every((state) => queue.counts[state] === 0),
    states: jobStates,
    servers: consumers.map((server) => ({ ...placeOf(server), silent: isSilent(server, nowMs) })),
  };
}

/** Returns the row for a concurrency key that blocks jobs. `path` leads to the enqueued jobs with this key. */
function keyRow({ queue, key, blocked, details }: BlockingKey): object {
  const terms: Term[] = [
    { key: 'queue', value: queue },
    { key: 'key', value: key },
  ];
  return { key, blocked, details, path: jobsPath({ state: 'enqueued', terms }) };
}

/**
 * Returns the server's data without the heartbeat. The heartbeat changes constantly, so including it would keep
 * refreshes from being answered with 304.
 */
function placeOf({ id, host, pid, state, requested, concurrency, processing }: Server): object {
  return { id, host, pid, state, requested, concurrency, processing };
}

/** Returns how many jobs succeeded or failed per minute, on average over the last five complete minutes. */
function perMinute(buckets: readonly Bucket[]): number {
  const { done, failed } = totalOf(buckets.slice(-1 - RATE_MINUTES, -1));
  return (done + failed) / RATE_MINUTES;
}

async function loadJobs(name: string, { reader }: PageContext): Promise<object> {
  const ofQueue = { queue: [name] };
  const [enqueued, processing, failed] = await Promise.all([
    listLongest('enqueued', ofQueue, FEW_JOBS, reader),
    listLongest('processing', ofQueue, FEW_JOBS, reader),
    reader.jobs.listLatestFailed({ queue: name, limit: FEW_JOBS }),
  ]);
  return {
    enqueued: enqueued.map(jobRow),
    processing: processing.map(jobRow),
    failed: failed.map(jobRow),
  };
}

async function find(name: string, { reader }: PageContext): Promise<Queue> {
  const queue = await reader.queues.find(name);
  if (queue === null) {
    throw notFound(
      'There is no such queue',
      `No queue has the name “${name}”. Queues are removed after a month without use; their finished jobs stay in the list of jobs.`,
    );
  }
  return queue;
}
