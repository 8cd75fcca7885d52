import { toStorable } from '@longshore/edge';
import type { JobCount } from '@longshore/jobs/storage';
import { formatCount, formatNumber } from '../format/count.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { type Trait, traitsOf } from './traits.js';
import type { FailingType } from './type-health.js';

/** Number of jobs to compare: the latest failures, and the latest successes since the failures began. */
const SAMPLE = 100;
/** Maximum number of failed jobs to examine for a sample. */
const MAX_EXAMINED = 1_000;
/** Maximum number of job types of which samples are read. */
const MAX_TYPES = 5;
/** How long a sample stays fresh, in milliseconds. */
const FRESH_MS = 10_000;

/** What the latest failures of a job type since it began to fail tell. */
export interface FailureSample {
  /** What they have in common. */
  readonly traits: readonly Trait[];
  /** The jobs that were skipped because of the failed ones, or because of their batches. */
  readonly skipped: JobCount;
  /** Number of failed jobs in the sample; jobs that wait for a retry are not among them. */
  readonly failed: number;
}

type Sources = Pick<ReadingContext, 'reader' | 'cache'>;

/** Reads samples of the types with the most failed attempts. Returns them by type. */
export async function readFailureSamples(
  failing: readonly FailingType[],
  { reader, cache }: Sources,
): Promise<ReadonlyMap<string, FailureSample>> {
  const samples = await Promise.all(
    failing.slice(0, MAX_TYPES).flatMap(({ name, shift }) => {
      // A filter refuses what no storage can contain.
      if (name === null || toStorable(name) !== name) return [];
      const since = new Date(shift.beganAt ?? shift.incident.from);
      return cache.readStale(
        JSON.stringify(['failure-sample', name, since]),
        async () => [name, await readSample(name, since, reader)] as const,
        () => FRESH_MS,
      );
    }),
  );
  return new Map(samples);
}

async function readSample(name: string, since: Date, reader: Sources['reader']): Promise<FailureSample> {
  const query = { order: 'newest', limit: SAMPLE, reach: 'near' } as const;
  const [latest, retrying, done] = await Promise.all([
    reader.jobs.searchFailed({ filter: { name: [name] }, limit: SAMPLE, maxExamined: MAX_EXAMINED }),
    reader.jobs.listBrief({ ...query, filter: { name: [name], state: ['scheduled'] } }),
    reader.jobs.listBrief({ ...query, filter: { name: [name], state: ['done'] } }),
  ]);
  const failed = latest.jobs.filter(({ finishedAt }) => finishedAt !== null && finishedAt >= since);
  // Jobs that succeeded when they were retried had failed, too.
  const failures = [...latest.jobs, ...retrying.jobs, ...done.jobs].filter(
    ({ lastFailure }) => lastFailure !== null && lastFailure.at >= since,
  );
  const successes = done.jobs.filter(({ finishedAt }) => finishedAt !== null && finishedAt >= since);
  const serverIds = [
    ...failures.flatMap(({ lastFailure }) => lastFailure?.serverId ?? []),
    ...successes.flatMap(({ serverId }) => serverId ?? []),
  ];
  const versions = await reader.deployments.versionsOf([...new Set(serverIds)]);
  const traits = traitsOf(failures, successes, versions);
  const skipped =
    failed.length === 0
      ? { count: 0, exact: true }
      : await reader.jobs.countSkipped([
          ...failed.map(({ id }) => id),
          ...new Set(failed.flatMap(({ batchId }) => batchId ?? [])),
        ]);
  return { traits, skipped, failed: failed.length };
}

/**
 * Returns a sentence such as `720 dependents of the latest 100 failed jobs were skipped.`; empty if there are none.
 */
export function skippedText({ skipped, failed }: Pick<FailureSample, 'skipped' | 'failed'>): string {
  if (skipped.count === 0) return '';
  const [dependents, were] = skipped.count === 1 ? ['dependent', 'was'] : ['dependents', 'were'];
  const jobs = failed === 1 ? 'the latest failed job' : `the latest ${formatNumber(failed)} failed jobs`;
  return `${formatCount(skipped)} ${dependents} of ${jobs} ${were} skipped.`;
}
