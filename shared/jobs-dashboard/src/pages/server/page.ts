import type { BriefJob, Server } from '@longshore/jobs/storage';
import { skewOf } from '../../diagnosis/clocks.js';
import { isSilent } from '../../diagnosis/consumers.js';
import { notFound } from '../../http/problem.js';
import { jobLine } from '../job-row.js';
import type { PageContext, PageRequest } from '../page.js';
import type { Page } from '../../shell/page.js';

const ROWS = 50;

export async function serverPage({ params }: PageRequest, context: PageContext): Promise<Page> {
  const { id, host, pid } = await find(params['server'] ?? '', context);
  return {
    title: `${host}, process ${pid}`,
    section: 'servers',
    view: 'page',
    kicker: { path: 'servers', text: 'Servers' },
    id,
    regions: [
      {
        name: 'server',
        view: 'server-state',
        everyMs: 2_000,
        load: () => loadState(id, context),
      },
      { name: 'jobs', view: 'server-jobs', everyMs: 5_000, load: () => loadJobs(id, context) },
    ],
  };
}

/**
 * Loads the state of a server. The number of running jobs matches the list on the same page. If the list is full, the
 * number is the larger of the list's length and the number from the last heartbeat.
 */
async function loadState(id: string, context: PageContext): Promise<object> {
  const [{ clockAheadMs, ...server }, jobs] = await Promise.all([
    find(id, context),
    listRunning(id, context),
  ]);
  const processing = jobs.length < ROWS ? jobs.length : Math.max(server.processing, jobs.length);
  return {
    server: { ...server, processing },
    silent: isSilent(server, context.now()),
    skew: skewOf(clockAheadMs),
    clock: clockAheadMs === null ? 'not measured yet' : 'in sync',
  };
}

async function loadJobs(id: string, context: PageContext): Promise<object> {
  const jobs = await listRunning(id, context);
  return { id, jobs: jobs.map((job) => jobLine(job, context.redact)) };
}

async function listRunning(id: string, { reader }: PageContext): Promise<BriefJob[]> {
  const filter = { serverId: [id], state: ['processing'] } as const;
  return (await reader.jobs.listBrief({ filter, order: 'oldest', limit: ROWS })).jobs;
}

async function find(id: string, { reader }: PageContext): Promise<Server> {
  const server = (await reader.servers.list()).find((candidate) => candidate.id === id);
  if (server !== undefined) return server;
  throw notFound('There is no such server', `No running server has the id “${id}”. It may have stopped.`);
}
