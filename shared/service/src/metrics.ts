import {
  finishedStates,
  type JobReader,
  type JobState,
  jobStates,
  type Queue,
  type SetAside,
} from '@longshore/jobs';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Where a job's way is still before it. */
const unfinishedStates = jobStates.filter(
  (state) => !finishedStates.some((finished: JobState) => finished === state),
);

/** The process's own numbers, and those of the job storage at the moment of asking. */
export function createMetrics(
  service: string,
  storage: JobReader & { readonly setAside: Pick<SetAside, 'count'> },
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
      for (const [state, count] of Object.entries(await storage.stateCounts())) jobs.set({ state }, count);
    },
  });
  const servers: Gauge = new Gauge({
    name: 'longshore_servers',
    help: 'Running job servers',
    registers,
    collect: async () => servers.set((await storage.listServers()).length),
  });
  const orphaned: Gauge<'queue' | 'name' | 'reason'> = new Gauge({
    name: 'longshore_orphaned_jobs',
    help: 'Jobs that wait for a server that is not there, no-server, no-handler',
    labelNames: ['queue', 'name', 'reason'],
    registers,
    collect: async () => {
      orphaned.reset();
      for (const { jobs, ...labels } of await storage.listOrphans()) orphaned.set(labels, jobs);
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
  /** The gauges below are read at one moment: one question serves them all. */
  const listQueues = (): Promise<Queue[]> =>
    (asked ??= storage.listQueues().finally(() => (asked = undefined)));
  const queued: Gauge<'queue' | 'state'> = new Gauge({
    name: 'longshore_queue_jobs',
    help: 'Unfinished jobs by queue and state',
    labelNames: ['queue', 'state'],
    registers,
    collect: async () => {
      for (const { name: queue, counts } of await listQueues())
        for (const state of unfinishedStates) queued.set({ queue, state }, counts[state]);
    },
  });
  const oldest: Gauge<'queue'> = new Gauge({
    name: 'longshore_queue_oldest_seconds',
    help: 'For how long the ready job that waits longest has been ready; 0 if none is',
    labelNames: ['queue'],
    registers,
    collect: async () => {
      for (const { name: queue, oldestEnqueuedAt: since } of await listQueues())
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
      for (const { name: queue, pausedAt } of await listQueues())
        paused.set({ queue }, pausedAt === null ? 0 : 1);
    },
  });
  return registry;
}
