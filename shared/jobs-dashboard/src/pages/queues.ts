import { compareTexts } from '@longshore/edge';
import { StorageUnavailableError } from '@longshore/jobs';
import {
  type BlockingKey,
  type BlockingKeys,
  jobStates,
  type Queue,
  type Server,
  type StateCounts,
  unfinishedStates,
} from '@longshore/jobs/storage';
import { soon } from '../cache/deadline.js';
import type { BacklogOutlook } from '../diagnosis/backlog-outlook.js';
import type { BacklogTrend } from '../diagnosis/backlog-trend.js';
import { blockedBy, keyLimitButton, keysOf, readyJobs } from '../diagnosis/blocking-keys.js';
import { failingTypeWarnings } from '../diagnosis/failures.js';
import { readHoldingLimit } from '../diagnosis/holding-limit.js';
import { readLimitSettings } from '../diagnosis/limit-settings.js';
import { slowTypeWarnings } from '../diagnosis/slow-types.js';
import { findTypeHealth } from '../diagnosis/type-health.js';
import { findPausedJobs, pausedIn, pauseText } from '../diagnosis/pause.js';
import { queueStatus } from '../diagnosis/queues.js';
import { slotsNeeded } from '../diagnosis/slots-needed.js';
import { groupByQueue, isSilent } from '../diagnosis/servers.js';
import { type Bucket, type Sparkline, sparklineOf, totalOf } from '../format/chart.js';
import type { Sentence } from '../format/sentence.js';
import { notFound } from '../http/problem.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';
import { listLongestRunning, listLongestWaiting } from '../reading/job-search.js';
import { jobsPath, type Term } from '../search/filters.js';
import type { Page, PageContext, PageRequest, PartialModel } from '../shell/page.js';
import { jobRow, waitingRow } from './job-row.js';
import { pageOf } from './list-page.js';
import { lastHour, throughputRegion } from './throughput.js';
import { trendsRegion } from './trends/region.js';

const ROWS = 50;

/** The sort orders of the list. Urgent queues, large job counts, long waits and few servers come first. */
const sorts = {
  urgency: (a: Queue, b: Queue) => urgency(a) - urgency(b) || sorts.wait(a, b),
  name: (a: Queue, b: Queue) => compareTexts(a.name, b.name),
  enqueued: (a: Queue, b: Queue) => b.counts.enqueued - a.counts.enqueued,
  processing: (a: Queue, b: Queue) => b.counts.processing - a.counts.processing,
  failed: (a: Queue, b: Queue) => b.counts.failed - a.counts.failed,
  wait: (a: Queue, b: Queue): number => readySince(a) - readySince(b),
  servers: (a: Queue, b: Queue) => a.servers - b.servers,
};

function readySince({ oldestEnqueuedAt }: Queue): number {
  return oldestEnqueuedAt?.getTime() ?? Number.MAX_VALUE;
}

/**
 * Returns a rank for sorting: 0 if jobs cannot start, 1 if jobs are enqueued, 2 if jobs are only running, and 3 if the
 * queue is idle.
 */
function urgency(queue: Queue): number {
  const { counts, pausedAt } = queue;
  if (isUnserved(queue) || (pausedAt !== null && counts.enqueued > 0)) return 0;
  if (counts.enqueued > 0) return 1;
  return counts.processing > 0 ? 2 : 3;
}

type Sort = keyof typeof sorts;

export async function queuesPage({ query }: PageRequest, context: PageContext): Promise<Page> {
  const requested = query.get('sort') ?? 'urgency';
  const sort: Sort = Object.hasOwn(sorts, requested) ? (requested as Sort) : 'urgency';
  return {
    title: 'Queues',
    section: 'queues',
    view: 'page',
    regions: [
      {
        name: 'queues',
        view: 'queues-list',
        everyMs: 5_000,
        load: async () => {
          const queues = (await context.reader.queues.list()).toSorted(
            (a, b) => sorts[sort](a, b) || sorts.name(a, b),
          );
          const { rows, ...paging } = pageOf(queues, query, ROWS);
          return { ...paging, sort, ...(await queueRows(rows, context)) };
        },
      },
    ],
  };
}

const FEW_JOBS = 5;
const RATE_MINUTES = 5;
const FEW_KEYS = 10;

export async function queuePage({ params, query }: PageRequest, context: PageContext): Promise<Page> {
  const name = params['queue'] ?? '';
  await findQueue(name, context);
  return {
    title: name,
    section: 'queues',
    view: 'page',
    kicker: { path: 'queues', text: 'Queues' },
    regions: [
      { name: 'queue', view: 'queue-state', everyMs: 2_000, load: () => loadQueue(name, context) },
      throughputRegion(context, name),
      trendsRegion(context, {
        path: `queues/${encodeURIComponent(name)}`,
        query,
        subject: { queue: name },
        outlook: () => readOutlook(name, context),
        blocking: () => context.reader.queues.listBlockingKeys(name),
      }),
      { name: 'jobs', view: 'queue-jobs', everyMs: 5_000, load: () => loadJobsOfQueue(name, context) },
    ],
  };
}

async function loadQueue(name: string, context: PageContext): Promise<object> {
  const [queue, queues, servers, buckets, pausedJobs, blocking, { failing, slow }] = await Promise.all([
    findQueue(name, context),
    context.reader.queues.list(),
    context.reader.servers.list(),
    context.reader.statistics.throughput({ ...lastHour, queue: name }),
    findPausedJobs(context.reader, name),
    context.reader.queues.listBlockingKeys(name),
    findTypeHealth(context.reader, name),
  ]);
  const consumers = servers.filter(({ queues }) => queues.includes(name));
  const nowMs = context.now();
  const waiting = pausedIn(name, pausedJobs);
  const shownKeys = blocking.keys.slice(0, FEW_KEYS);
  const { text, trend } = context.backlogs.of(queue, { consumers, blocking, pausedJobs });
  return {
    status: queueStatus(queue, consumers, nowMs, { queues, pausedJobs: waiting, blocking }),
    queue: queueRow(queue),
    outlook: text,
    slots: trend === null ? null : await readSlotsNeeded(queue, trend, { consumers, blocking }, context),
    ready: readyJobs(queue, blocking),
    blocked: blockedBy(blocking),
    blocking: shownKeys.map(keyRow),
    keyLimit: keyLimitButton(name, 'Change a limit', shownKeys),
    moreKeys: Math.max(0, blocking.keys.length - FEW_KEYS),
    pausedTypes: waiting.map((type) => type.name),
    warnings: [
      ...failingTypeWarnings(failing),
      ...slowTypeWarnings(slow, await readHoldingLimit(slow, context, name)),
    ],
    perMinute: perMinute(buckets),
    limits: { concurrencyLimit: queue.concurrencyLimit, rateLimit: queue.rateLimit },
    limitSettings: await readLimitSettings(queue, context.reader),
    inCode: queue.inCode,
    isIdle: consumers.length === 0 && unfinishedStates.every((state) => queue.counts[state] === 0),
    states: jobStates,
    servers: consumers.map((server) => ({ ...withoutHeartbeat(server), silent: isSilent(server, nowMs) })),
  };
}

/**
 * Says how many more slots would drain a queue soon; `null` if that is uncertain, as it is if a limit of the queue or a key
 * decides how many of its jobs run at once.
 */
async function readSlotsNeeded(
  { name, concurrencyLimit, rateLimit }: Queue,
  trend: BacklogTrend,
  { consumers, blocking }: { readonly consumers: readonly Server[]; readonly blocking: BlockingKeys },
  { reader, now }: PageContext,
): Promise<Sentence | null> {
  if (concurrencyLimit !== null || rateLimit !== null || blocking.keys.length > 0) return null;
  const thisMinute = Math.floor(now() / MINUTE_MS);
  const minutes = await reader.timings.read({
    from: new Date((thisMinute - 1) * MINUTE_MS),
    until: new Date((thisMinute + 1) * MINUTE_MS),
    bucketMs: MINUTE_MS,
    queue: name,
  });
  return slotsNeeded(trend, { consumers, minutes, nowMs: now() });
}

async function readOutlook(name: string, context: PageContext): Promise<BacklogOutlook> {
  const { reader, backlogs } = context;
  const [queue, servers, blocking, pausedJobs] = await Promise.all([
    findQueue(name, context),
    reader.servers.list(),
    reader.queues.listBlockingKeys(name),
    findPausedJobs(reader, name),
  ]);
  return backlogs.of(queue, { consumers: groupByQueue(servers)(name), blocking, pausedJobs });
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
function withoutHeartbeat({ id, host, pid, state, requested, concurrency, processing }: Server): object {
  return { id, host, pid, state, requested, concurrency, processing };
}

/** Returns how many jobs succeeded or failed per minute, on average over the last five complete minutes. */
function perMinute(buckets: readonly Bucket[]): number {
  const { done, failed } = totalOf(buckets.slice(-1 - RATE_MINUTES, -1));
  return (done + failed) / RATE_MINUTES;
}

async function loadJobsOfQueue(name: string, { reader }: PageContext): Promise<object> {
  const ofQueue = { queue: [name] };
  const [enqueued, processing, failed] = await Promise.all([
    listLongestWaiting(ofQueue, FEW_JOBS, reader),
    listLongestRunning(ofQueue, FEW_JOBS, reader),
    reader.jobs.listLatestFailed({ queue: name, limit: FEW_JOBS }),
  ]);
  return {
    enqueued: enqueued.map(waitingRow),
    processing: processing.map(jobRow),
    failed: failed.map(jobRow),
  };
}

async function findQueue(name: string, { reader }: PageContext): Promise<Queue> {
  const queue = await reader.queues.find(name);
  if (queue === null) {
    throw notFound(
      'There is no such queue',
      `No queue has the name “${name}”. Queues are removed after a month without use; their finished jobs stay in the list of jobs.`,
    );
  }
  return queue;
}

interface QueueRow {
  readonly name: string;
  readonly counts: StateCounts;
  readonly oldestEnqueuedAt: Date | null;
  readonly servers: number;
  /** Text such as “paused by ann 20 min ago: PSP outage, until 07:00”; `null` if the queue is not paused. */
  readonly paused: Sentence | null;
  readonly concurrencyLimit: Queue['concurrencyLimit'];
  readonly rateLimit: Queue['rateLimit'];
  /** Whether the queue has enqueued, scheduled or awaiting jobs, but no running server consumes it. */
  readonly unserved: boolean;
}

function queueRow(queue: Queue): QueueRow {
  const { name, counts, oldestEnqueuedAt, servers, concurrencyLimit, rateLimit } = queue;
  return {
    name,
    counts,
    oldestEnqueuedAt,
    servers,
    paused: pauseText(queue),
    concurrencyLimit,
    rateLimit,
    unserved: isUnserved(queue),
  };
}

function isUnserved({ counts, servers }: Queue): boolean {
  return servers === 0 && counts.enqueued + counts.scheduled + counts.awaiting > 0;
}

interface QueueRows extends PartialModel {
  /**
   * In each row, `ended` is the throughput of the last hour; `null` if it is unknown. `notes` says how the backlog
   * changes, and which jobs wait for something else than a server, a pause or a limit of the queue.
   */
  readonly queues: readonly (QueueRow & {
    readonly ended: Sparkline | null;
    readonly notes: readonly Sentence[];
  })[];
  /** Whether the throughput could not be read. */
  readonly gaveUp: boolean;
}

/** The keys that block jobs, as long as they are still being read. */
const unknownKeys: BlockingKeys = { keys: [], isComplete: false };

export async function queueRows(queues: readonly Queue[], context: PageContext): Promise<QueueRows> {
  const { reader, backlogs } = context;
  const names = queues.map(({ name }) => name);
  const [{ byQueue, partial }, servers, pausedJobs, blocking = unknownKeys] = await Promise.all([
    readLastHour(names, reader),
    reader.servers.list(),
    findPausedJobs(reader),
    soon(reader.queues.listBlockingKeys(), WAIT_MS),
  ]);
  const consumersOf = groupByQueue(servers);
  return {
    queues: queues.map((queue) => {
      const { name } = queue;
      const buckets = byQueue?.get(name);
      const consumers = consumersOf(name);
      const { brief, held } = backlogs.of(queue, { consumers, blocking: keysOf(name, blocking), pausedJobs });
      return {
        ...queueRow(queue),
        ended: buckets === undefined ? null : sparklineOf(buckets),
        notes: [...(brief === null ? [] : [brief]), ...held],
      };
    }),
    partial,
    gaveUp: byQueue === null && !partial,
  };
}

const MINUTE_MS = 60_000;
const span = { sinceMs: 60 * MINUTE_MS, bucketMs: 5 * MINUTE_MS };

/** How long to wait for the throughput and for the keys that block jobs, in milliseconds. */
const WAIT_MS = 25;

interface LastHour {
  /** The throughput by queue; `null` if it is not known yet, or could not be read. */
  readonly byQueue: ReadonlyMap<string, readonly Bucket[]> | null;
  /** Whether the throughput is still being read. */
  readonly partial: boolean;
}

/**
 * Reads the throughput of each queue over the last hour. Waits no longer than {@link WAIT_MS}, and does not fail if the
 * storage is unavailable, because lists of queues are useful even without the throughput.
 *
 * @param queues the names of the queues, at most 100
 */
async function readLastHour(
  queues: readonly string[],
  { statistics }: Pick<DashboardReader, 'statistics'>,
): Promise<LastHour> {
  if (queues.length === 0) return { byQueue: new Map(), partial: false };
  try {
    // Sorts the names, so that all sort orders of a list share a cached read.
    const ended = statistics.throughputByQueue({ ...span, queues: queues.toSorted() });
    const byQueue = (await soon(ended, WAIT_MS)) ?? null;
    return { byQueue, partial: byQueue === null };
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    return { byQueue: null, partial: false };
  }
}
