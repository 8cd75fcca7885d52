import { shorten } from '@longshore/edge';
import type { Job } from '@longshore/jobs';
import {
  type BulkAction,
  type BulkPreview,
  type JobCount,
  type JobFilter,
  statesOfAction,
  timeOfId,
} from '@longshore/jobs/storage';
import { bulkWords, isBulkAction, isDestructive } from '../actions/bulk-words.js';
import { hasRole } from '../auth/authenticator.js';
import { counted } from '../format/count.js';
import { badRequest } from '../http/problem.js';
import { countSoon, findJobs, type FoundJobs } from '../reading/job-search.js';
import { confirmedField, type JobSelection, parseJobSelection } from '../search/job-selection.js';
import { filterText } from '../search/search.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { jobRow, type JobRow } from './job-row.js';

const EXAMPLES = 3;
/** How many jobs a retry in steps retries first. */
const FIRST = 10;
/** Maximum number of jobs to examine for the summary of names, queues and errors. */
const SAMPLE = 100;
const MAX_KINDS = 4;
const MAX_KIND = 80;

interface Wanted extends JobSelection {
  readonly action: BulkAction;
  readonly key: string;
}

export async function bulkConfirmPage({ query, viewer }: PageRequest, context: PageContext): Promise<Page> {
  const wanted = wantedIn(query, context);
  return {
    title: hasRole(viewer, wanted.action === 'delete' ? 'admin' : 'operator')
      ? `${bulkWords[wanted.action].verb} these jobs?`
      : `Jobs that would be ${bulkWords[wanted.action].done}`,
    section: 'jobs',
    view: 'page',
    kicker: { path: wanted.list, text: 'Jobs' },
    regions: [
      { name: 'jobs', view: 'bulk-confirm-jobs', everyMs: 5_000, load: () => loadJobs(wanted, context) },
    ],
  };
}

/**
 * Loads the summary of the jobs that the action would change. Leaves out jobs in states that the action does not apply
 * to.
 */
async function loadJobs({ action, key, filter, which, list }: Wanted, context: PageContext): Promise<object> {
  const { state = [] } = filter;
  const states = statesOfAction[action].filter(
    (candidate) => state.length === 0 || state.includes(candidate),
  );
  const { effect, ofJobs, confirmAll } = bulkWords[action];
  const common = {
    action,
    effect,
    which,
    back: list,
    text: filterText(filter),
    states: statesOfAction[action],
  };
  const narrowed: JobFilter = { ...filter, state: states };
  const { jobs, preview, count, partial, gaveUp } =
    states.length === 0
      ? { ...none, preview: null, count: { count: 0, exact: true } }
      : await readSample(key, action, narrowed, context);
  const { exact } = count;
  const batches = jobs.flatMap(({ batchId }) => batchId ?? []);
  const skipped =
    action === 'retry' && jobs.length > 0
      ? await context.reader.jobs.countSkipped([...jobs.map(({ id }) => id), ...new Set(batches)])
      : null;
  return {
    ...common,
    count,
    partial,
    gaveUp,
    // Exact only if the dependents of all jobs were counted, not just those of the sample.
    skipped:
      skipped === null || skipped.count === 0
        ? null
        : { ...skipped, exact: skipped.exact && exact && count.count <= jobs.length },
    confirmed: preview === null ? null : confirmedField(preview),
    searchedFrom: preview === null ? null : latestIn(preview.oldestSearchedIds),
    // Retries by id, so that the first step is exactly these jobs.
    first:
      action === 'retry' && preview !== null && jobs.length > FIRST
        ? jobs
            .slice(0, FIRST)
            .map(({ id }) => `id=${id}`)
            .join('&')
        : null,
    button: exact ? ofJobs(counted(count.count, 'job')) : confirmAll,
    typed: !exact && isDestructive(action) ? action : null,
    sampled: !exact || count.count > jobs.length ? jobs.length : null,
    kinds: kindsOf(jobs),
    jobs: jobs.slice(0, EXAMPLES),
  };
}

const none: FoundJobs<Sample> = { jobs: [], partial: false, asOf: null, gaveUp: false };

interface Shown extends FoundJobs<Sample> {
  /** The jobs that the action would change; `null` if they have not been counted yet, or cannot be determined. */
  readonly preview: BulkPreview | null;
  /** The number of jobs; a lower bound if it is not exact. */
  readonly count: JobCount;
}

async function readSample(
  key: string,
  action: BulkAction,
  filter: JobFilter,
  context: PageContext,
): Promise<Shown> {
  const [sample, counting] = await Promise.all([
    findJobs({ key, query: { filter, limit: SAMPLE }, row: sampleOf }, context),
    countSoon(key, () => context.reader.bulk.preview({ action, filter }), context),
  ]);
  // If counting took too long, the action covers only the jobs that exist now. A word search then has no preview,
  // because it is unknown how far the search got.
  const uncounted =
    filter.q === undefined ? { count: null, asOf: new Date(context.now()), oldestSearchedIds: {} } : null;
  const preview = counting === undefined ? null : (counting.value ?? uncounted);
  return {
    jobs: sample.jobs,
    preview,
    count: preview?.count ?? { count: sample.jobs.length, exact: false },
    partial: counting === undefined,
    asOf: null,
    gaveUp: counting !== undefined && (preview?.count ?? null) === null,
  };
}

/**
 * Returns the time from which the word search covers the jobs of every finished state; `null` if it covers all finished
 * jobs.
 */
function latestIn(oldestSearchedIds: BulkPreview['oldestSearchedIds']): Date | null {
  const latest = Object.values(oldestSearchedIds).toSorted().at(-1);
  return latest === undefined ? null : (timeOfId(latest) ?? null);
}

interface Sample extends JobRow {
  readonly errorName: string | null;
  readonly batchId: string | null;
}

function sampleOf(job: Job): Sample {
  return {
    ...jobRow(job),
    batchId: job.batchId,
    errorName: job.error === null ? null : shorten(job.error.name, MAX_KIND, '…'),
  };
}

function kindsOf(jobs: readonly Sample[]): object[] {
  const errors = jobs.flatMap(({ errorName }) => errorName ?? []);
  const kinds = [
    { by: 'Name', tally: tally(jobs.map(({ name }) => name)) },
    { by: 'Queue', tally: tally(jobs.map(({ queue }) => queue)) },
    { by: 'Error', tally: tally(errors) },
  ];
  return kinds
    .filter((kind) => kind.tally.length > 0)
    .map((kind) => ({
      by: kind.by,
      tally: kind.tally
        .slice(0, MAX_KINDS)
        .map((entry) => ({ ...entry, value: shorten(entry.value, MAX_KIND, '…') })),
      more: Math.max(0, kind.tally.length - MAX_KINDS),
    }));
}

function wantedIn(query: URLSearchParams, { now, redact }: PageContext): Wanted {
  const action = query.get('action') ?? '';
  if (!isBulkAction(action)) throw badRequest('There is no such action', `“${action}” is not a bulk action.`);
  return {
    action,
    key: `confirm?${query.toString()}`,
    ...parseJobSelection(query, { nowMs: now(), redact }),
  };
}

interface Tally {
  readonly value: string;
  readonly count: number;
}

/** Returns how often each value occurs, most frequent first. */
function tally(values: readonly string[]): Tally[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Array.from(counts, ([value, count]) => ({ value, count })).toSorted((a, b) => b.count - a.count);
}
