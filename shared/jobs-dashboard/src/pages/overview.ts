import { compareTexts } from '@longshore/edge';
import type { Queue, Server } from '@longshore/jobs/storage';
import { changesBefore, periodBefore, readChanges } from '../diagnosis/changes.js';
import { activeIncidents, overallState } from '../diagnosis/health.js';
import { drawCourse } from '../diagnosis/course.js';
import { isUntouched, readSituation } from '../diagnosis/situation.js';
import {
  type CurrentWarning,
  currentWarnings,
  mayHaveBegunEarlier,
  type WarningKind,
} from '../diagnosis/warning.js';
import { findWarnings } from '../diagnosis/warnings.js';
import { listLongestRunning } from '../reading/job-search.js';
import { nothing, type Page, type PageContext, type PageRequest, type Region } from '../shell/page.js';
import { jobRow } from './job-row.js';
import { queueRows } from './queues.js';
import { throughputRegion } from './throughput.js';
import { trendsRegion } from './trends/region.js';

const BUSIEST_QUEUES = 8;
const MAX_WARNINGS = 8;
const FEW_JOBS = 5;

export async function overviewPage({ query }: PageRequest, context: PageContext): Promise<Page> {
  const parts: Region[] = [
    throughputRegion(context),
    trendsRegion(context, {
      path: '',
      query,
      subject: {},
      blocking: () => context.reader.queues.listBlockingKeys(),
    }),
    { name: 'queues', view: 'overview-queues', everyMs: 5_000, load: () => loadQueues(context) },
    { name: 'running', view: 'overview-running', everyMs: 5_000, load: () => loadRunning(context) },
    { name: 'failures', view: 'overview-failures', everyMs: 5_000, load: () => loadFailures(context) },
  ];
  return {
    title: 'Overview',
    section: 'overview',
    view: 'overview',
    regions: [
      { name: 'flow', view: 'overview-flow', everyMs: 2_000, load: () => loadFlow(context) },
      ...parts.map((part) => onceTouched(part, context)),
    ],
  };
}

/** Wraps a region so that it stays empty until the storage has a queue, a server or a lost server. */
function onceTouched(region: Region, { reader }: PageContext): Region {
  return {
    ...region,
    load: async () => {
      // Reads everything in parallel, so that the content does not wait for the other reads.
      const [queues, servers, lost, content] = await Promise.all([
        reader.queues.list(),
        reader.servers.list(),
        reader.servers.listLost(),
        region.load(),
      ]);
      return isUntouched({ queues, servers, lost }) ? nothing : content;
    },
  };
}

async function loadFlow(context: PageContext): Promise<object> {
  const [counts, situation, active] = await Promise.all([
    context.reader.jobs.stateCounts(),
    readSituation(context),
    context.reader.incidents.list(activeIncidents),
  ]);
  const slots = situation.servers.reduce((sum, server) => sum + slotsInService(server), 0);
  const current = currentWarnings(findWarnings(situation), active, situation.nowMs);
  const { warnings, ...overall } = overallState(situation, current, counts);
  const shown = warnings.slice(0, MAX_WARNINGS);
  return {
    counts,
    servers: situation.servers.length,
    slots,
    ...overall,
    untouched: isUntouched(situation),
    warnings: await withChanges(shown, context),
    moreWarnings: warnings.length - shown.length,
  };
}

/** The warnings that tell themselves who did what. */
const deliberate: ReadonlySet<string> = new Set<WarningKind>([
  'queue-paused',
  'type-paused',
  'schedule-paused',
  'deletion-pending',
]);

/** Adds to each warning what people or deployments changed just before it began. */
async function withChanges(warnings: readonly CurrentWarning[], context: PageContext): Promise<object[]> {
  const begins = warnings.flatMap(({ incident }) => incident?.since.getTime() ?? []);
  const changes = begins.length === 0 ? { changes: [] } : await readChanges(periodBefore(...begins), context);
  return warnings.map((warning) => {
    const { incident, kind } = warning;
    return {
      ...warning,
      course: warning.course === undefined ? null : drawCourse(warning.course, incident?.since ?? null),
      // Without the time of the latest check, which would change the region each time.
      incident: incident && { ...incident, seenAt: null },
      mayHaveBegunEarlier: mayHaveBegunEarlier(warning),
      runbook: incident && context.runbook.of(incident),
      changes: incident === null || deliberate.has(kind) ? [] : changesBefore(incident, changes),
    };
  });
}

/**
 * Returns how many slots of a server count as capacity: all of them if it takes new jobs, otherwise only the busy ones.
 */
function slotsInService({ state, concurrency, processing }: Server): number {
  return state === 'running' ? concurrency : Math.min(processing, concurrency);
}

async function loadQueues(context: PageContext): Promise<object> {
  const queues = await context.reader.queues.list();
  const shown = queues.toSorted(byUrgency).slice(0, BUSIEST_QUEUES);
  return { ...(await queueRows(shown, context)), total: queues.length };
}

async function loadRunning({ reader }: PageContext): Promise<object> {
  return { jobs: (await listLongestRunning({}, FEW_JOBS, reader)).map(jobRow) };
}

async function loadFailures({ reader }: PageContext): Promise<object> {
  return { jobs: (await reader.jobs.listLatestFailed({ limit: FEW_JOBS })).map(jobRow) };
}

/** Orders queues by longest wait first, then by most enqueued jobs, then by name. */
function byUrgency(a: Queue, b: Queue): number {
  const wait = (queue: Queue): number => queue.oldestEnqueuedAt?.getTime() ?? Number.POSITIVE_INFINITY;
  if (wait(a) !== wait(b)) return wait(a) - wait(b);
  return b.counts.enqueued - a.counts.enqueued || compareTexts(a.name, b.name);
}
