import {
  type BulkAction,
  type Job,
  type JobCount,
  type JobFilter,
  statesOfAction,
  StorageUnavailableError,
} from '@longshore/jobs';
import { type Selection, selectionIn } from '../actions/selection.js';
import { formatCount } from '../format/count.js';
import { excerpt } from '../format/excerpt.js';
import { badRequest } from '../http/problem.js';
import { soon } from '../reading/deadline.js';
import { type FoundJobs, seekJobs } from '../reading/found-jobs.js';
import { filterText } from '../search/filter-text.js';
import { bulkWords, isBulkAction } from './bulk-words.js';
import { jobRow } from './job-row.js';
import { tally } from './tally.js';
import type { Page, PageContext, PageRequest } from './page.js';

const EXAMPLES = 3;
/** So many jobs are looked at to tell what kinds of jobs they are: cheap, and mostly all of them. */
const SAMPLE = 100;
const MOST_KINDS = 4;

/** What is asked for. */
interface Wanted extends Selection {
  readonly action: BulkAction;
}

/** Says what an action on many jobs would do, before it does it. */
export async function bulkConfirmPage({ query }: PageRequest, context: PageContext): Promise<Page> {
  const wanted = wantedIn(query, context);
  return {
    title: `${bulkWords[wanted.action].verb} these jobs?`,
    section: 'jobs',
    view: 'bulk-confirm',
    data: { back: wanted.list },
    regions: [
      { name: 'jobs', view: 'bulk-confirm-jobs', everyMs: 5_000, load: () => loadJobs(wanted, context) },
    ],
  };
}

/** Jobs in other states are none of its business. */
async function loadJobs({ action, filter, which, list }: Wanted, { reader }: PageContext): Promise<object> {
  const { state = [] } = filter;
  const states = statesOfAction[action].filter((each) => state.length === 0 || state.includes(each));
  const { effect, of } = bulkWords[action];
  const asked = {
    action,
    effect,
    which,
    back: list,
    text: filterText(filter),
    states: statesOfAction[action],
  };
  const narrowed: JobFilter = { ...filter, state: states };
  const { jobs, count, partial, gaveUp } =
    states.length === 0 ? { ...none, count: { count: 0, exact: true } } : await look(narrowed, reader);
  const one = count.count === 1 && count.exact;
  const unknown = count.count === 0 && !count.exact;
  return {
    ...asked,
    count,
    partial,
    gaveUp,
    deed: of(unknown ? 'all that match' : `${formatCount(count)} ${one ? 'job' : 'jobs'}`),
    sampled: !count.exact || count.count > jobs.length ? jobs.length : null,
    kinds: kindsOf(jobs),
    jobs: jobs.slice(0, EXAMPLES).map(jobRow),
  };
}

const none: FoundJobs = { jobs: [], partial: false, gaveUp: false };

/** What is known of them at once, and all as soon as they are counted: nobody waits for a number in order to decide. */
async function look(
  filter: JobFilter,
  reader: PageContext['reader'],
): Promise<FoundJobs & { readonly count: JobCount }> {
  const [found, counted] = await Promise.all([
    seekJobs({ filter, limit: SAMPLE }, reader),
    countSoon(filter, reader),
  ]);
  const all = !found.partial && !found.gaveUp && found.jobs.length < SAMPLE;
  const count = typeof counted === 'object' ? counted : { count: found.jobs.length, exact: all };
  return {
    jobs: found.jobs,
    count,
    partial: found.partial || (counted === 'later' && !all),
    gaveUp: found.gaveUp || counted === 'never',
  };
}

async function countSoon(
  filter: JobFilter,
  reader: PageContext['reader'],
): Promise<JobCount | 'later' | 'never'> {
  try {
    return (await soon(reader.countJobs(filter))) ?? 'later';
  } catch (error) {
    if (error instanceof StorageUnavailableError) return 'never';
    throw error;
  }
}

/** What they are, in a few words each. */
function kindsOf(jobs: readonly Job[]): object[] {
  const errors = jobs.flatMap(({ error }) => (error === null ? [] : [error.name]));
  const kinds = [
    { by: 'Name', tally: tally(jobs.map(({ name }) => name)) },
    { by: 'Queue', tally: tally(jobs.map(({ queue }) => queue)) },
    { by: 'Error', tally: tally(errors) },
  ];
  return kinds
    .filter((kind) => kind.tally.length > 0)
    .map((kind) => ({
      by: kind.by,
      tally: kind.tally.slice(0, MOST_KINDS).map((each) => ({ ...each, value: excerpt(each.value, 80) })),
      more: Math.max(0, kind.tally.length - MOST_KINDS),
    }));
}

function wantedIn(query: URLSearchParams, { now, redact }: PageContext): Wanted {
  const action = query.get('action') ?? '';
  if (!isBulkAction(action))
    throw badRequest('There is no such action', `“${action}” cannot be done to many jobs.`);
  return { action, ...selectionIn(query, { nowMs: now(), redact }) };
}
