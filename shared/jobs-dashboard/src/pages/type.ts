import { shorten } from '@longshore/edge';
import type { Job } from '@longshore/jobs';
import { type ErrorGroup, otherNames, type Server } from '@longshore/jobs/storage';
import { failingTypeWarnings, newErrorWarnings } from '../diagnosis/failures.js';
import { readFailureSamples } from '../diagnosis/failure-sample.js';
import { readHoldingLimit } from '../diagnosis/holding-limit.js';
import { pauseText } from '../diagnosis/pause.js';
import { isSilent } from '../diagnosis/servers.js';
import { slowTypeWarnings } from '../diagnosis/slow-types.js';
import { readHealthOfType } from '../diagnosis/type-health.js';
import { formatCount, formatNumber, formatShare } from '../format/count.js';
import { capitalized } from '../format/sentence.js';
import { notFound } from '../http/problem.js';
import { listLongestRunning, listLongestWaiting } from '../reading/job-search.js';
import { jobsPath, type Term } from '../search/filters.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { errorsOfDay } from './errors.js';
import { jobRow, waitingRow } from './job-row.js';
import { trendsRegion } from './trends/region.js';

const FEW_JOBS = 5;
const FEW_ERRORS = 5;
/** How many of the latest successful jobs are examined to find the slowest. */
const EXAMINED = 200;
const HOUR = 3_600_000;
const MAX_TEXT = 300;

export async function typePage({ params, query }: PageRequest, context: PageContext): Promise<Page> {
  const name = params['type'] ?? '';
  if (name === otherNames)
    throw notFound('There is no such job type', 'This name covers many job names counted together.');
  return {
    title: name,
    section: 'types',
    view: 'page',
    kicker: { path: 'types', text: 'Job types' },
    regions: [
      { name: 'type', view: 'type-state', everyMs: 2_000, load: () => loadType(name, context) },
      trendsRegion(context, {
        path: `types/${encodeURIComponent(name)}`,
        query,
        subject: { name },
        throughput: true,
      }),
      { name: 'jobs', view: 'type-jobs', everyMs: 5_000, load: () => loadJobsOfType(name, context) },
    ],
  };
}

async function loadType(name: string, context: PageContext): Promise<object> {
  const { reader } = context;
  const nowMs = context.now();
  const minuteMs = 60_000;
  const untilMs = (Math.floor(nowMs / minuteMs) + 1) * minuteMs;
  const [paused, servers, buckets, { failing, slow }] = await Promise.all([
    reader.jobTypes.listPaused(),
    reader.servers.list(),
    reader.timings.read({
      from: new Date(untilMs - HOUR),
      until: new Date(untilMs),
      bucketMs: minuteMs,
      name,
    }),
    readHealthOfType(reader, name),
  ]);
  const pause = paused.find((type) => type.name === name);
  const hour = buckets[0]?.timing.copy();
  for (const { timing } of buckets.slice(1)) hour?.merge(timing);
  const { done = 0, failed = 0, retried = 0 } = hour ?? {};
  const handling = servers.filter(({ jobNames }) => jobNames?.includes(name) ?? true);
  return {
    name,
    paused: pause === undefined ? null : capitalized(pauseText(pause)),
    warnings: [
      ...failingTypeWarnings(failing, await readFailureSamples(failing, context)),
      ...newErrorWarnings(failing),
      ...slowTypeWarnings(slow, await readHoldingLimit(slow, context)),
    ],
    // Ignores values older than three minutes. Servers measure the backlog once a minute, but only while they run.
    backlog: buckets.slice(-3).findLast(({ backlog }) => backlog !== null)?.backlog ?? null,
    done,
    failed,
    retried,
    failureRate: done + failed === 0 ? null : formatShare(failed / (done + failed)),
    servers: handling.map((server) => serverRow(server, nowMs)),
    enqueued: jobsPath({ state: 'enqueued', terms: ofName(name) }),
    running: jobsPath({ state: 'processing', terms: ofName(name) }),
    failures: jobsPath({ state: 'failed', terms: [...ofName(name), { key: 'finished-after', value: '1h' }] }),
    retrying: jobsPath({ state: 'scheduled', terms: ofName(name) }),
  };
}

/**
 * Returns the server's data without the heartbeat. The heartbeat changes constantly, so including it would keep
 * refreshes from being answered with 304.
 */
function serverRow(server: Server, nowMs: number): object {
  const { id, host, pid, state, requested, concurrency, processing } = server;
  return { id, host, pid, state, requested, concurrency, processing, silent: isSilent(server, nowMs) };
}

async function loadJobsOfType(name: string, { reader }: PageContext): Promise<object> {
  const ofType = { name: [name] };
  const [running, waiting, { jobs: done }, { groups }] = await Promise.all([
    listLongestRunning(ofType, FEW_JOBS, reader),
    listLongestWaiting(ofType, FEW_JOBS, reader),
    reader.jobs.listBrief({ filter: { ...ofType, state: ['done'] }, limit: EXAMINED, reach: 'near' }),
    reader.statistics.listErrorGroups(errorsOfDay),
  ]);
  const slowest = done.toSorted((one, other) => ranMs(other) - ranMs(one)).slice(0, FEW_JOBS);
  const retried = done.filter(({ attempt }) => attempt > 1).slice(0, FEW_JOBS);
  const errors = groups.filter((group) => group.name === name);
  return {
    lists: [
      {
        key: 'running',
        title: 'Longest running',
        jobs: running.map(jobRow),
        more: moreOf(name, 'processing'),
      },
      {
        key: 'waiting',
        title: 'Longest waiting',
        jobs: waiting.map(waitingRow),
        more: moreOf(name, 'enqueued'),
      },
      {
        key: 'slowest',
        title: `Slowest of the latest ${formatNumber(done.length)} done`,
        jobs: slowest.map((job) => ({ ...jobRow(job), ranMs: ranMs(job) })),
        more: moreOf(name, 'done'),
      },
      // Examples of failures that no list of failed jobs contains.
      {
        key: 'retried',
        title: 'Succeeded at a later attempt',
        jobs: retried.map(jobRow),
        more: moreOf(name, 'done'),
      },
    ].filter(({ jobs }) => jobs.length > 0),
    errors: errors.slice(0, FEW_ERRORS).map(errorRow),
    moreErrors: Math.max(0, errors.length - FEW_ERRORS),
  };
}

function ranMs({ startedAt, finishedAt }: Job): number {
  return startedAt === null || finishedAt === null ? 0 : finishedAt.getTime() - startedAt.getTime();
}

function moreOf(name: string, state: 'processing' | 'enqueued' | 'done'): string {
  return jobsPath({ state, terms: ofName(name) }, state === 'done' ? {} : { order: 'oldest' });
}

function ofName(name: string): Term[] {
  return [{ key: 'name', value: name }];
}

function errorRow(group: ErrorGroup): object {
  const { name, fingerprint, message, count, retryable, failedExact, waitingExact, lastSeenAt } = group;
  return {
    kind: shorten(fingerprint.split(': ', 1)[0] ?? '', MAX_TEXT, '…'),
    message: shorten(message.split('\n', 1)[0] ?? '', MAX_TEXT, '…'),
    failed: formatCount({ count: retryable, exact: failedExact }),
    waiting: formatCount({ count: count - retryable, exact: waitingExact || count === retryable }),
    lastSeenAt,
    jobs: jobsPath({ state: null, terms: [...ofName(name), { key: 'fingerprint', value: fingerprint }] }),
  };
}
