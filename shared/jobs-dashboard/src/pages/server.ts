import type { Server } from '@longshore/jobs';
import { notFound } from '../http/problem.js';
import { jobLine } from './job-row.js';
import type { Page, PageContext, PageRequest } from './page.js';

const ROWS = 50;

export async function serverPage({ params }: PageRequest, context: PageContext): Promise<Page> {
  const { id, host, pid } = await find(params['server'] ?? '', context);
  return {
    title: `${host}, process ${pid}`,
    section: 'servers',
    view: 'server',
    data: { id },
    regions: [
      {
        name: 'server',
        view: 'server-state',
        everyMs: 2_000,
        load: async () => ({ server: await find(id, context) }),
      },
      { name: 'jobs', view: 'server-jobs', everyMs: 5_000, load: () => loadJobs(id, context) },
    ],
  };
}

async function loadJobs(id: string, { reader, redact }: PageContext): Promise<object> {
  const filter = { serverId: [id], state: ['processing'] } as const;
  const jobs = await reader.listJobs({ filter, order: 'oldest', limit: ROWS });
  return { id, jobs: jobs.map((job) => jobLine(job, redact)) };
}

async function find(id: string, { reader }: PageContext): Promise<Server> {
  const server = (await reader.listServers()).find((candidate) => candidate.id === id.toLowerCase());
  if (server !== undefined) return server;
  throw notFound('There is no such server', `None with the id “${id}” is running. It may have stopped.`);
}
