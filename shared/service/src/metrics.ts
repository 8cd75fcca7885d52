import type { JobServer, JobStorage } from '@longshore/jobs';
import { type Queue, type SetAside, unfinishedStates } from '@longshore/jobs/storage';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Maximum number of queues to report separately. The queues with the most unfinished jobs come first. The job counts of
 * all others are added up as `(others)`; their other metrics are omitted.
 */
const maxQueues = 500;

function unfinishedIn({ counts }: Queue): number {
  return unfinishedStates.reduce((sum, state) => sum + counts[state], 0);
}

/** Creates the metrics of the process and of the job storage. Reads the storage whenever the metrics are collected. */
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
    help: 'Jobs by state, across all queues',
    labelNames: ['state'],
    registers,
    collect: async () => {
      for (const [state, count] of Object.entries(await storage.jobs.stateCounts()))
        jobs.set({ state }, count);
    },
  });
  const servers: Gauge = new Gauge({
    name: 'longshore_servers',
    help: 'Job servers that send heartbeats, including quiet and stopping ones',
    registers,
    collect: async () => servers.set((await storage.servers.list()).length),
  });
  const orphaned: Gauge<'queue' | 'name' | 'reason'> = new Gauge({
    name: 'longshore_orphaned_jobs',
    help: 'Jobs that no running server can take, by reason: no-server or no-handler',
    labelNames: ['queue', 'name', 'reason'],
    registers,
    collect: async () => {
      orphaned.reset();
      for (const { jobs, ...labels } of await storage.jobs.listOrphans()) orphaned.set(labels, jobs);
    },
  });
  const setAside: Gauge<'role'> = new Gauge({
    name: 'longshore_set_aside',
    help: 'Items that background work skipped because of invalid data, by role',
    labelNames: ['role'],
    registers,
    collect: async () => {
      for (const [role, items] of Object.entries(await storage.setAside.count()))
        setAside.set({ role }, items);
    },
  });
  let reading: Promise<Queue[]> | undefined;
  /** Lists the queues, most unfinished jobs first. Gauges that are collected at the same time share one read. */
  const listQueues = (): Promise<Queue[]> =>
    (reading ??= storage.queues
      .list()
      .then((queues) => queues.toSorted((one, other) => unfinishedIn(other) - unfinishedIn(one)))
      .finally(() => (reading = undefined)));
  const queued: Gauge<'queue' | 'state'> = new Gauge({
    name: 'longshore_queue_jobs',
    help: 'Unfinished jobs by queue and state',
    labelNames: ['queue', 'state'],
    registers,
    collect: async () => {
      const queues = await listQueues();
      queued.reset();
      for (const { name: queue, counts } of queues.slice(0, maxQueues))
        for (const state of unfinishedStates) queued.set({ queue, state }, counts[state]);
      const unlistedQueues = queues.slice(maxQueues);
      if (unlistedQueues.length === 0) return;
      for (const state of unfinishedStates)
        queued.set(
          { queue: '(others)', state },
          unlistedQueues.reduce((sum, { counts }) => sum + counts[state], 0),
        );
    },
  });
  const oldest: Gauge<'queue'> = new Gauge({
    name: 'longshore_queue_oldest_seconds',
    help: 'How long the oldest ready job has been waiting; 0 if there is none',
    labelNames: ['queue'],
    registers,
    collect: async () => {
      const queues = await listQueues();
      oldest.reset();
      for (const { name: queue, oldestEnqueuedAt: since } of queues.slice(0, maxQueues))
        oldest.set(
          { queue },
          since === null ? 0 : Math.max(0, storage.clock.now() - since.getTime()) / 1_000,
        );
    },
  });
  const paused: Gauge<'queue'> = new Gauge({
    name: 'longshore_queue_paused',
    help: '1 if the queue is paused',
    labelNames: ['queue'],
    registers,
    collect: async () => {
      const queues = await listQueues();
      paused.reset();
      for (const { name: queue, pausedAt } of queues.slice(0, maxQueues))
        paused.set({ queue }, pausedAt === null ? 0 : 1);
    },
  });
  return registry;
}

/** Upper bounds of the histogram buckets, in seconds. */
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800];

/** Adds metrics for the attempts of a job server: count, outcome, waiting time and duration. */
export function measureAttempts(server: Pick<JobServer, 'on'>, registry: Registry): void {
  const attempts = new Counter({
    name: 'longshore_attempts_total',
    help: 'Finished attempts by job name and outcome: done, retrying, failed, cancelled, snoozed, suspended, lost',
    labelNames: ['name', 'outcome'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'longshore_attempt_seconds',
    help: 'How long attempts ran by job name, except snoozed, suspended and lost ones',
    labelNames: ['name'],
    buckets,
    registers: [registry],
  });
  const waits = new Histogram({
    name: 'longshore_wait_seconds',
    help: 'How long jobs were ready before they started, by queue and job name',
    labelNames: ['queue', 'name'],
    buckets,
    registers: [registry],
  });
  /** The names of running jobs by id, for the event `lost`, which has none. */
  const running = new Map<string, string>();
  server.on('started', ({ job, waitedMs }) => {
    waits.observe({ queue: job.queue, name: job.name }, Math.max(0, waitedMs) / 1_000);
    running.set(job.id, job.name);
  });
  for (const outcome of ['done', 'retrying', 'failed', 'cancelled', 'snoozed', 'suspended'] as const)
    server.on(outcome, ({ job: { id, name }, ranMs }) => {
      running.delete(id);
      attempts.inc({ name, outcome });
      if (outcome !== 'snoozed' && outcome !== 'suspended') durations.observe({ name }, ranMs / 1_000);
    });
  server.on('lost', ({ claim }) => {
    const name = running.get(claim.jobId);
    if (name === undefined) return; // the attempt was lost before its handler started
    running.delete(claim.jobId);
    attempts.inc({ name, outcome: 'lost' });
  });
}
