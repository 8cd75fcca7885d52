import type { EnqueueMiddleware, JobServer } from '@longshore/jobs';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { LabelValues } from './label-values.js';

/** Upper bounds of the histogram buckets, in seconds. */
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800];

/** Adds the number of jobs that this process enqueues to its metrics. Returns the middleware that counts them. */
export function measureEnqueued(registry: Registry): EnqueueMiddleware {
  const enqueued = new Counter({
    name: 'longshore_jobs_enqueued_total',
    help: 'Jobs that clients and handlers in this process enqueued, by job type; also those of transactions that are rolled back later',
    labelNames: ['type'],
    registers: [registry],
  });
  const types = new LabelValues();
  return async (context, next) => {
    const { requests } = context;
    const answer = await next();
    for (const { definition } of requests) enqueued.inc({ type: types.of(definition.name) });
    return answer;
  };
}

type Measured = Pick<JobServer, 'on' | 'concurrency' | 'running' | 'stalledMs'>;

/** Adds the metrics of a job server: its slots, its attempts, and what it has lost and rescued. */
export function measureServer(registry: Registry, server: Measured): void {
  measureSlots(registry, server);
  measureAttempts(registry, server);
  measureRescues(registry, server);
}

function measureSlots(registry: Registry, server: Measured): void {
  const gauge = (name: string, help: string, value: () => number): void => {
    const metric: Gauge = new Gauge({
      name,
      help,
      registers: [registry],
      collect: () => metric.set(value()),
    });
  };
  gauge(
    'longshore_slots',
    'Jobs that this process can run at the same time (WORKER_CONCURRENCY)',
    () => server.concurrency,
  );
  gauge('longshore_slots_busy', 'Jobs that this process is running', () => server.running);
  gauge(
    'longshore_claiming_stalled_seconds',
    'For how long this process has not been able to claim jobs; 0 if it can',
    () => server.stalledMs / 1_000,
  );
}

/** How an attempt can end on its server, by the event for it. */
const ends = ['done', 'retrying', 'failed', 'cancelled', 'snoozed', 'suspended'] as const;

function measureAttempts(registry: Registry, server: Measured): void {
  const registers = [registry];
  const attempts = new Counter({
    name: 'longshore_attempts_total',
    help: 'Attempts that ended, by job type and outcome: done, retrying, failed, cancelled, snoozed, suspended, lost',
    labelNames: ['type', 'outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'longshore_attempt_seconds',
    help: 'How long attempts ran, by job type, except snoozed, suspended and lost ones',
    labelNames: ['type'],
    buckets,
    registers,
  });
  const waits = new Histogram({
    name: 'longshore_wait_seconds',
    help: 'How long jobs waited from when they were due until they started, by queue',
    labelNames: ['queue'],
    buckets,
    registers,
  });
  const ready = new Counter({
    name: 'longshore_ready_seconds_total',
    help: 'The part of longshore_wait_seconds_sum in which the jobs were ready, so that a free slot could have started them',
    labelNames: ['queue'],
    registers,
  });
  const lost = new Counter({
    name: 'longshore_leases_lost_total',
    help: 'Leases that this process lost, on running jobs and on jobs that had not started yet',
    registers,
  });
  const queues = new LabelValues();
  // Each series begins with 0, so that the first failure of a job type is an increase, too.
  const types = new LabelValues((type) => {
    for (const outcome of [...ends, 'lost']) attempts.inc({ type, outcome }, 0);
  });
  /** The names of running jobs by id, for the event `lost`, which has none. */
  const running = new Map<string, string>();
  server.on('started', ({ job, waitedMs, readyMs }) => {
    const queue = queues.of(job.queue);
    waits.observe({ queue }, waitedMs / 1_000);
    ready.inc({ queue }, readyMs / 1_000);
    types.of(job.name);
    running.set(job.id, job.name);
  });
  for (const outcome of ends)
    server.on(outcome, ({ job: { id, name }, ranMs }) => {
      running.delete(id);
      const type = types.of(name);
      attempts.inc({ type, outcome });
      if (outcome !== 'snoozed' && outcome !== 'suspended') durations.observe({ type }, ranMs / 1_000);
    });
  server.on('lost', ({ claim }) => {
    lost.inc();
    const name = running.get(claim.jobId);
    if (name === undefined) return; // the attempt was lost before its handler started
    running.delete(claim.jobId);
    attempts.inc({ type: types.of(name), outcome: 'lost' });
  });
}

function measureRescues(registry: Registry, server: Measured): void {
  const registers = [registry];
  const jobs = new Counter({
    name: 'longshore_jobs_rescued_total',
    help: 'Jobs whose lost leases this process cleared, by what became of them: released to their queue, or failed after their last attempt',
    labelNames: ['outcome'],
    registers,
  });
  const servers = new Counter({
    name: 'longshore_servers_declared_dead_total',
    help: 'Job servers that this process declared dead because their heartbeats stopped',
    registers,
  });
  for (const outcome of ['released', 'failed']) jobs.inc({ outcome }, 0); // so that the first rescue is an increase
  server.on('rescued', ({ deadServers, released, failed }) => {
    jobs.inc({ outcome: 'released' }, released);
    jobs.inc({ outcome: 'failed' }, failed);
    servers.inc(deadServers.length);
  });
}
