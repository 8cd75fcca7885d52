import type { JobServer } from '@longshore/jobs';
import { Counter, Histogram, type Registry } from 'prom-client';

/** In seconds. */
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800];

/** Counts and times the attempts of a job server of this process. */
export function measureAttempts(server: Pick<JobServer, 'on'>, registry: Registry): void {
  const attempts = new Counter({
    name: 'longshore_attempts_total',
    help: 'Finished attempts by job name and outcome: done, retrying, failed, cancelled, snoozed, lost',
    labelNames: ['name', 'outcome'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'longshore_attempt_seconds',
    help: 'Duration of attempts by job name',
    labelNames: ['name'],
    buckets,
    registers: [registry],
  });
  const running = new Map<string, { name: string; startedAt: number }>();
  const end = (id: string, outcome: string): void => {
    const attempt = running.get(id);
    if (attempt === undefined) return; // released before it began
    running.delete(id);
    attempts.inc({ name: attempt.name, outcome });
    durations.observe({ name: attempt.name }, (performance.now() - attempt.startedAt) / 1_000);
  };
  server.on('started', ({ job }) => {
    running.set(job.id, { name: job.name, startedAt: performance.now() });
  });
  for (const outcome of ['done', 'retrying', 'failed', 'cancelled', 'snoozed'] as const) {
    server.on(outcome, ({ job }) => end(job.id, outcome));
  }
  server.on('lost', ({ claim }) => end(claim.jobId, 'lost'));
}
