import type { BriefJob, Server } from '@longshore/jobs/storage';
import { isSilent, skewOf } from '../diagnosis/servers.js';
import { notFound } from '../http/problem.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { jobLine } from './job-row.js';

const MAX_LOST = 20;

export async function serversPage(_request: PageRequest, context: PageContext): Promise<Page> {
  return {
    title: 'Servers',
    section: 'servers',
    view: 'page',
    regions: [
      {
        name: 'servers',
        view: 'servers-list',
        everyMs: 5_000,
        load: async () => {
          const { reader, now } = context;
          const [servers, lost, replica] = await Promise.all([
            reader.servers.list(),
            reader.servers.listLost(),
            reader.readReplica(),
          ]);
          const nowMs = now();
          return {
            servers: servers.map(({ clockAheadMs, ...server }) => ({
              ...server,
              silent: isSilent(server, nowMs),
              skew: skewOf(clockAheadMs),
            })),
            lost: lost.slice(0, MAX_LOST),
            moreLost: Math.max(0, lost.length - MAX_LOST),
            replica,
          };
        },
      },
    ],
  };
}

const ROWS = 50;

export async function serverPage({ params }: PageRequest, context: PageContext): Promise<Page> {
  const { id, host, pid } = await findServer(params['server'] ?? '', context);
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
        load: () => loadServer(id, context),
      },
      { name: 'jobs', view: 'server-jobs', everyMs: 5_000, load: () => loadJobsOfServer(id, context) },
    ],
  };
}

/**
 * Loads the state of a server. The number of running jobs matches the list on the same page. If the list is full, the
 * number is the larger of the list's length and the number from the last heartbeat.
 */
async function loadServer(id: string, context: PageContext): Promise<object> {
  const [{ clockAheadMs, ...server }, jobs] = await Promise.all([
    findServer(id, context),
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

async function loadJobsOfServer(id: string, context: PageContext): Promise<object> {
  const jobs = await listRunning(id, context);
  return { id, jobs: jobs.map((job) => jobLine(job, context.redact)) };
}

async function listRunning(id: string, { reader }: PageContext): Promise<BriefJob[]> {
  const filter = { serverId: [id], state: ['processing'] } as const;
  return (await reader.jobs.listBrief({ filter, order: 'oldest', limit: ROWS })).jobs;
}

async function findServer(id: string, { reader }: PageContext): Promise<Server> {
  const server = (await reader.servers.list()).find((candidate) => candidate.id === id);
  if (server !== undefined) return server;
  throw notFound('There is no such server', `No running server has the id “${id}”. It may have stopped.`);
}
