import type { Queue } from '@longshore/jobs';
import { recently } from '../diagnosis/failing.js';
import { stalledQuery } from '../diagnosis/stalled.js';
import { overallState } from '../diagnosis/verdict.js';
import { totalOf } from '../format/chart.js';
import { readClockAhead } from '../reading/clock-ahead.js';
import { jobRow } from './job-row.js';
import type { Page, PageContext, PageRequest } from './page.js';
import { throughputRegion } from './throughput.js';
import { queueRow } from './queues.js';

const BUSIEST_QUEUES = 8;
const FEW_JOBS = 5;
const MOST_WARNINGS = 8;

export async function overviewPage(_request: PageRequest, context: PageContext): Promise<Page> {
  return {
    title: 'Overview',
    section: 'overview',
    view: 'overview',
    regions: [
      { name: 'flow', view: 'overview-flow', everyMs: 2_000, load: () => loadFlow(context) },
      throughputRegion(context),
      { name: 'queues', view: 'overview-queues', everyMs: 5_000, load: () => loadQueues(context) },
      { name: 'running', view: 'overview-running', everyMs: 5_000, load: () => loadRunning(context) },
      { name: 'failures', view: 'overview-failures', everyMs: 5_000, load: () => loadFailures(context) },
    ],
  };
}

async function loadFlow(context: PageContext): Promise<object> {
  const { reader, now } = context;
  const [counts, queues, servers, longestRunning, orphans, stalled, lost, ended, newestFailed, clockAheadMs] =
    await Promise.all([
      reader.stateCounts(),
      reader.listQueues(),
      reader.listServers(),
      oldestInProcessing(reader),
      reader.listOrphans(),
      reader.listStalledLeases(stalledQuery),
      reader.listLostServers(),
      reader.statistics.throughput(recently),
      newestOfFailed(reader),
      readClockAhead(context),
    ]);
  const recent = { ...totalOf(ended), newestFailed };
  const situation = {
    queues,
    servers,
    longestRunning,
    orphans,
    stalled,
    lost,
    recent,
    clockAheadMs,
    nowMs: now() - clockAheadMs,
  };
  const slots = servers.reduce((sum, server) => sum + server.concurrency, 0);
  const { warnings, ...verdict } = overallState(situation, counts);
  const shown = warnings.slice(0, MOST_WARNINGS);
  return {
    counts,
    servers: servers.length,
    slots,
    ...verdict,
    warnings: shown,
    moreWarnings: warnings.length - shown.length,
  };
}

async function loadQueues({ reader }: PageContext): Promise<object> {
  const queues = await reader.listQueues();
  return { queues: queues.toSorted(byUrgency).slice(0, BUSIEST_QUEUES).map(queueRow), total: queues.length };
}

async function loadRunning({ reader }: PageContext): Promise<object> {
  return { jobs: (await oldestInProcessing(reader)).map(jobRow) };
}

async function loadFailures({ reader }: PageContext): Promise<object> {
  return { jobs: (await newestOfFailed(reader)).map(jobRow) };
}

function newestOfFailed(reader: PageContext['reader']) {
  return reader.listJobs({ filter: { state: ['failed'] }, limit: FEW_JOBS });
}

function oldestInProcessing(reader: PageContext['reader']) {
  return reader.listJobs({ filter: { state: ['processing'] }, order: 'oldest', limit: FEW_JOBS });
}

/** The longest wait first, then the longest line. */
function byUrgency(a: Queue, b: Queue): number {
  const wait = (queue: Queue): number => queue.oldestEnqueuedAt?.getTime() ?? Number.POSITIVE_INFINITY;
  if (wait(a) !== wait(b)) return wait(a) - wait(b);
  return b.counts.enqueued - a.counts.enqueued || a.name.localeCompare(b.name);
}
