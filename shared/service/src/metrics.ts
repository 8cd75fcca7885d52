import type { JobState, JobStorage } from '@longshore/jobs';
import { finishedStates, jobStates, type Queue, type SetAside } from '@longshore/jobs/storage';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Where a job's way is still before it. */
const unfinishedStates = jobStates.filter(
  (state) => !finishedStates.some((finished: JobState) => finished === state),
);

/** Queues that have series of their own; those with fewer jobs are summed up as `(others)`. */
const mostQueues = 500;

function unfinishedIn({ counts }: Queue): number {
  return unfinishedStates.reduce((sum, state) => sum + counts[state], 0);
}

/** The process's own numbers, and those of the job storage at the moment of asking. */
export function createMetrics(
  service: string,
  storage: Pick<JobStorage, 'jobs' | 'queues' | 'servers' | 'clock'> & {
    readonly setAside: Pick<SetAside, 'count'>;
  },
): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const jobs: Gauge<'state'> = new Gauge({
    name: 'longshore_jobs',
    help: 'Jobs by state, over all queues',
    labelNames: ['state'],
    registers,
    collect: async () => {
      for (const [state, count] of Object.entries(await storage.jobs.stateCounts()))
        jobs.set({ state }, count);
    },
  });
  const servers: Gauge = new Gauge({
    name: 'longshore_servers',
    help: 'Running job servers',
    registers,
    collect: async () => servers.set((await storage.servers.list()).length),
  });
  const orphaned: Gauge<'queue' | 'name' | 'reason'> = new Gauge({
    name: 'longshore_orphaned_jobs',
    help: 'Jobs that wait for a server that is not there, no-server, no-handler',
    labelNames: ['queue', 'name', 'reason'],
    registers,
    collect: async () => {
      orphaned.reset();
      for (const { jobs, ...labels } of await storage.jobs.listOrphans()) orphaned.set(labels, jobs);
    },
  });
  const setAside: Gauge<'role'> = new Gauge({
    name: 'longshore_set_aside',
    help: 'What background work could not deal with because of its data, by the role that met it',
    labelNames: ['role'],
    registers,
    collect: async () => {
      for (const [role, items] of Object.entries(await storage.setAside.count()))
        setAside.set({ role }, items);
    },
  });
  let asked: Promise<Queue[]> | undefined;
  /** The gauges below are read at one moment: one question serves them all. The queues with most jobs, the longest first. */
  const listQueues = (): Promise<Queue[]> =>
    (asked ??= storage.queues
      .list()
      .then((queues) => queues.toSorted((one, other) => unfinishedIn(other) - unfinishedIn(one)))
      .finally(() => (asked = undefined)));
  const queued: Gauge<'queue' | 'state'> = new Gauge({
    name: 'longshore_queue_jobs',
    help: 'Unfinished jobs by queue and state',
    labelNames: ['queue', 'state'],
    registers,
    collect: async () => {
      const queues = await listQueues();
      queued.reset();
      for (const { name: queue, counts } of queues.slice(0, mostQueues))
        for (const state of unfinishedStates) queued.set({ queue, state }, counts[state]);
      const others = queues.slice(mostQueues);
      if (others.length === 0) return;
      for (const state of unfinishedStates)
        queued.set(
          { queue: '(others)', state },
          others.reduce((sum, { counts }) => sum + counts[state], 0),
        );
    },
  });
  const oldest: Gauge<'queue'> = new Gauge({
    name: 'longshore_queue_oldest_seconds',
    help: 'For how long the ready job that waits longest has been ready; 0 if none is',
    labelNames: ['queue'],
    registers,
    collect: async () => {
      const queues = await listQueues();
      oldest.reset();
      for (const { name: queue, oldestEnqueuedAt: since } of queues.slice(0, mostQueues))
        oldest.set(
          { queue },
          since === null ? 0 : Math.max(0, storage.clock.now() - since.getTime()) / 1_000,
        );
    },
  });
  const paused: Gauge<'queue'> = new Gauge({
    name: 'longshore_queue_paused',
    help: '1 for a queue that is paused',
    labelNames: ['queue'],
    registers,
    collect: async () => {
      const queues = await listQueues();
      paused.reset();
      for (const { name: queue, pausedAt } of queues.slice(0, mostQueues))
        paused.set({ queue }, pausedAt === null ? 0 : 1);
    },
  });
  return registry;
}
