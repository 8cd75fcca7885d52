import type { BriefJob, FailurePosition, FailureSearchQuery, FoundFailures } from '@longshore/jobs/storage';
import { filterQuery, type Filters, jobsPath } from '../search/filters.js';
import type { PageContext } from '../shell/page.js';
import { readRows } from './list-page.js';

/**
 * How many failures a search examines, latest first: `NEAR` immediately, `FAR` in the background. Word searches examine
 * fewer, because they are slower.
 */
const NEAR = { plain: 2_000, words: 300 };
const FAR = { plain: 20_000, words: 10_000 };

/**
 * Returns the path of the list of failed jobs, latest failure first. The list starts after the position `after`, or at
 * the beginning if `after` is `null`.
 */
export function failedPath(filters: Filters, after: FailurePosition | null): string {
  if (after === null) return jobsPath(filters);
  return jobsPath(filters, { after: after.id, failed: after.failedAt.toISOString() });
}

/** A page of failed jobs, latest failure first. */
interface FailedList {
  readonly jobs: readonly BriefJob[];
  /** Whether the list continues after these jobs. */
  readonly hasNext: boolean;
  /**
   * How far the background search got. `last` is the last failure that the search examined, or `null` if it examined
   * all. `jobs` is the maximum number that it examines. If there is no background search or no result yet, `last` is
   * `null` and `jobs` is 0.
   */
  readonly searched: { readonly last: FailurePosition | null; readonly jobs: number };
  /** Whether the background search has no result yet. Jobs might then be missing. */
  readonly partial: boolean;
}

export async function readFailed(
  filters: Filters,
  after: FailurePosition | null,
  rows: number,
  context: PageContext,
): Promise<FailedList> {
  const [queue, ...otherTerms] = filters.terms;
  const isIndexed = queue === undefined || (queue.key === 'queue' && otherTerms.length === 0);
  return isIndexed
    ? readIndexed(queue?.value, after, rows, context)
    : searchFailed(filters, after, rows, context);
}

async function readIndexed(
  queue: string | undefined,
  after: FailurePosition | null,
  rows: number,
  { reader }: PageContext,
): Promise<FailedList> {
  const page = await readRows(rows, (limit) =>
    reader.jobs.listLatestFailed({
      limit,
      ...(queue === undefined ? {} : { queue }),
      ...(after === null ? {} : { after }),
    }),
  );
  return { jobs: page.rows, hasNext: !page.isComplete, searched: whole, partial: false };
}

const whole = { last: null, jobs: 0 };

async function searchFailed(
  filters: Filters,
  after: FailurePosition | null,
  rows: number,
  { reader, cache, now, redact }: PageContext,
): Promise<FailedList> {
  const kind = filters.terms.some(({ key }) => key === 'q') ? 'words' : 'plain';
  const query: Omit<FailureSearchQuery, 'maxExamined'> = {
    filter: filterQuery({ ...filters, state: null }, { nowMs: now(), redact }),
    limit: rows + 1,
    ...(after === null ? {} : { after }),
  };
  const near = await reader.jobs.searchFailed({ ...query, maxExamined: NEAR[kind] });
  if (near.last === null) return listOf(near, rows, whole, false);
  const far = await cache.readSoon(`failed ${failedPath(filters, after)}`, () =>
    reader.jobs.searchFailed({ ...query, maxExamined: FAR[kind] }),
  );
  if (far === undefined) return listOf(near, rows, whole, true);
  const searched = { last: far.value.last, jobs: FAR[kind] };
  return listOf({ jobs: merged(near.jobs, far.value.jobs) }, rows, searched, false);
}

/** Merges the results of both searches, latest failure first. If both contain a job, keeps the one in `near`. */
function merged(near: readonly BriefJob[], far: readonly BriefJob[]): BriefJob[] {
  const failedAt = ({ finishedAt }: BriefJob): number => finishedAt?.getTime() ?? 0;
  const byId = new Map([...far, ...near].map((job) => [job.id, job]));
  return [...byId.values()].toSorted(
    (one, other) => failedAt(other) - failedAt(one) || (one.id < other.id ? 1 : -1),
  );
}

function listOf(
  { jobs }: Pick<FoundFailures, 'jobs'>,
  rows: number,
  searched: FailedList['searched'],
  partial: boolean,
): FailedList {
  return { jobs: jobs.slice(0, rows), hasNext: jobs.length > rows, searched, partial };
}
